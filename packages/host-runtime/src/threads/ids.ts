import { hash } from "node:crypto";

/** A UUID of version 8 (RFC 9562) from the hash of its parts: the same parts always give the same id. */
function hashedUuid(...parts: readonly string[]): string {
  // In one call: a hash object holds memory outside of the heap until a full collection, and every turn would leave one.
  const hex = hash("sha256", JSON.stringify(parts), "hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The thread id of a session that was found and not started by us, the same every time. */
export function threadIdFor(harness: string, nativeId: string): string {
  return hashedUuid("thread", harness, nativeId);
}

/** The turn id of a turn that we did not start ourselves. */
export function turnIdFor(harness: string, nativeId: string, turnKey: string): string {
  return hashedUuid("turn", harness, nativeId, turnKey);
}
