import { invalidRequest, isJsonObject } from "@foldcast/protocol-core/wire";

/** Where a page begins: at or after an anchor, in the direction that is asked for. */
export interface TurnAnchor {
  turnId: string;
  /** Null in a list of turns. */
  itemId: string | null;
  /** True when the anchor itself belongs to the page. */
  include: boolean;
}

/** An opaque cursor. It names its thread and its place by id, so that it stays right while the history grows. */
export function encodeCursor(threadId: string, anchor: TurnAnchor): string {
  return JSON.stringify({
    requestedThreadId: threadId,
    turnId: anchor.turnId,
    ...(anchor.itemId === null ? {} : { itemId: anchor.itemId }),
    includeAnchor: anchor.include,
    scope: { kind: anchor.itemId === null ? "turns" : "items" },
  });
}

/**
 * The anchor of a cursor of ours for this thread and list. Null for one from elsewhere (another thread, another list,
 * the real server): the caller starts at the head then. What is no cursor at all is refused with Codex's own text.
 */
export function decodeCursor(text: string, threadId: string, kind: "turns" | "items"): TurnAnchor | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidRequest(`invalid cursor: ${text}`);
  }
  if (!isJsonObject(value)) throw invalidRequest(`invalid cursor: ${text}`);
  const { turnId, itemId, includeAnchor, requestedThreadId, scope } = value;
  if (requestedThreadId !== threadId || typeof turnId !== "string" || !isJsonObject(scope) || scope["kind"] !== kind) return null;
  if (kind === "items" && typeof itemId !== "string") return null;
  return { turnId, itemId: typeof itemId === "string" ? itemId : null, include: includeAnchor === true };
}
