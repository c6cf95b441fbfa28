import { hash } from "node:crypto";

/** A UUID of version 8 (RFC 9562) from the hash of its parts: the same parts always give the same id. */
function hashedUuid(...parts: readonly string[]): string {
  // In one call: a hash object holds memory outside of the heap until a full collection, and every turn would leave one.
  const bytes = hash("sha256", JSON.stringify(parts), "buffer");
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex", 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The thread id of a session that was found and not started by us, the same every time. */
export function threadIdFor(harness: string, nativeId: string): string {
  return hashedUuid("thread", harness, nativeId);
}

/** The turn id of a turn that we did not start ourselves. */
export function turnIdFor(harness: string, nativeId: string, turnKey: string): string {
  return hashedUuid("turn", harness, nativeId, turnKey);
}
