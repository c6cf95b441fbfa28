import type { FileEdit } from "@foldcast/protocol-core/harness";
import { filledString, objectOf, objectsOf, stringOf } from "../json.ts";

/**
 * Changes that a call's `diff` entries show. ACP does not say whether a text is the whole file or a piece of it
 * (OpenCode, Grok, Copilot and Kimi send pieces), so no position is claimed. No agent seen sends `oldText: null` for a
 * new file; they send an empty text, and some of them `_meta.kind`.
 */
export function editsOf(content: unknown): FileEdit[] {
  return objectsOf(content).flatMap((part): FileEdit[] => {
    const path = filledString(part["path"]);
    if (part["type"] !== "diff" || path === null) return [];
    const old = stringOf(part["oldText"]);
    const after = stringOf(part["newText"]);
    const { kind } = objectOf(part["_meta"]);
    if (kind === "delete") return [{ path, kind: "delete", ...(old === null ? {} : { before: old }), after: null }];
    if (after === null) return [];
    if (kind === "add" || part["oldText"] === null) return [{ path, before: null, after }];
    return [old === null || old === "" ? { path, after } : { path, fragments: [{ old, new: after }] }];
  });
}
