import { isJsonObject } from "./json.ts";

export type RequestId = string | number;

/**
 * A frame from a peer, sorted as the real server sorts it: batches, scalars, null or fractional ids and
 * objects without a method are `ignored` (no reply; the connection stays usable).
 */
export type IncomingFrame =
  | { kind: "request"; id: RequestId; method: string; params: unknown }
  | { kind: "notification"; method: string; params: unknown }
  | { kind: "response"; id: RequestId; result: unknown }
  | { kind: "error"; id: RequestId; error: unknown }
  | { kind: "ignored"; reason: string };

function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isInteger(value));
}

/** Parses one frame (a line, or one text frame). Never throws. A `jsonrpc` member is tolerated and ignored. */
export function parseFrame(text: string): IncomingFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "ignored", reason: "not JSON" };
  }
  if (!isJsonObject(value)) return { kind: "ignored", reason: "not an object" };
  const { id, method, params } = value;
  if (typeof method === "string") {
    if (!("id" in value)) return { kind: "notification", method, params };
    return isRequestId(id) ? { kind: "request", id, method, params } : { kind: "ignored", reason: "id is not a string or an integer" };
  }
  if (!isRequestId(id)) return { kind: "ignored", reason: "neither method nor id" };
  if ("error" in value) return { kind: "error", id, error: value["error"] };
  if ("result" in value) return { kind: "response", id, result: value["result"] };
  return { kind: "ignored", reason: "neither method nor result" };
}

/** Serialises one outgoing frame; no `jsonrpc` member, as the real server. */
export function serializeFrame(frame: object): string {
  return JSON.stringify(frame);
}
