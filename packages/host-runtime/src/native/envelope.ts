import { eachMember, isAtEnd, textAt } from "./json-bytes.ts";
import type { Span } from "./json-bytes.ts";

/** What decides where a frame goes. Of members that stand there twice the last counts, as for `JSON.parse`. */
export interface Envelope {
  /** Null for an answer. */
  method: string | null;
  /** As it is written; null for a notification. */
  id: Span | null;
  params: Span | null;
}

/** Never throws. Null for what is no JSON object: it is nobody's, and the real server says nothing to it either. */
export function readEnvelope(bytes: Buffer): Envelope | null {
  const found: Envelope = { method: null, id: null, params: null };
  const end = eachMember(bytes, 0, (keyStart, keyEnd, start, valueEnd) => {
    const name = textAt(bytes, keyStart, keyEnd);
    if (name === "method") found.method = textAt(bytes, start, valueEnd);
    else if (name === "id") found.id = { start, end: valueEnd };
    else if (name === "params") found.params = { start, end: valueEnd };
    return undefined;
  });
  return end === -1 || !isAtEnd(bytes, end) ? null : found;
}

/** An id as a key: the same for the same id, however it is written. A number stays what it says beyond 2^53. */
export function idKey(bytes: Buffer, id: Span): string {
  const text = textAt(bytes, id.start, id.end);
  return text === null ? bytes.toString("latin1", id.start, id.end) : `"${text}`;
}

/** How most frames of a server begin. */
const METHOD_FIRST = Buffer.from('{"method":"');
const LONGEST_METHOD = 100;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function beginsWithMethod(bytes: Buffer): boolean {
  if (bytes.length < METHOD_FIRST.length) return false;
  for (let at = 0; at < METHOD_FIRST.length; at++) if (bytes[at] !== METHOD_FIRST[at]) return false;
  return true;
}

/** What such a frame begins with, where it is plain and no escape; null for what has to be read with care. */
function plainMethod(bytes: Buffer): string | null {
  if (!beginsWithMethod(bytes)) return null;
  const from = METHOD_FIRST.length;
  const to = Math.min(bytes.length, from + LONGEST_METHOD);
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return bytes.toString("latin1", from, at);
    if (byte === BACKSLASH || byte >= 0x80) return null;
  }
  return null;
}

/**
 * The key of the request that a frame answers; null for one that is no answer. It looks no further than it must: most
 * frames of a server begin with their method, and answers with their id and result.
 */
export function answeredKey(bytes: Buffer): string | null {
  if (beginsWithMethod(bytes)) return null;
  const found: { id: Span | null; members: number; hasMethod: boolean } = { id: null, members: 0, hasMethod: false };
  eachMember(bytes, 0, (keyStart, keyEnd, start, end) => {
    found.members++;
    const name = textAt(bytes, keyStart, keyEnd);
    if (name === "method") {
      found.hasMethod = true;
      return false;
    }
    if (name === "id") found.id = { start, end };
    // In the order of the real server nothing can follow that would make it a request.
    return !((name === "result" || name === "error") && found.id !== null && found.members === 2);
  });
  return found.hasMethod || found.id === null ? null : idKey(bytes, found.id);
}

/** Its method, where it has one and that stands first; what a server sends begins so. */
export function leadingMethod(bytes: Buffer): string | null {
  let method = plainMethod(bytes);
  if (method !== null) return method;
  eachMember(bytes, 0, (keyStart, keyEnd, start, end) => {
    if (textAt(bytes, keyStart, keyEnd) === "method") method = textAt(bytes, start, end);
    return false;
  });
  return method;
}

/** What of the parameters decides whose a request is: only the parameters' own members count, not what lies deeper. */
export interface Addressed {
  threadId: string | null;
  /** Models that it chooses: `model`, and `collaborationMode.settings.model`, which goes before it. */
  model: string | null;
  cursor: string | null;
}

export function readAddressed(bytes: Buffer, params: Span | null): Addressed {
  const found: Addressed & { byMode: string | null } = { threadId: null, model: null, cursor: null, byMode: null };
  if (params === null) return found;
  eachMember(bytes, params.start, (keyStart, keyEnd, start, end) => {
    const name = textAt(bytes, keyStart, keyEnd);
    if (name === "threadId") found.threadId = textAt(bytes, start, end);
    else if (name === "model") found.model = textAt(bytes, start, end);
    else if (name === "cursor") found.cursor = textAt(bytes, start, end);
    else if (name === "collaborationMode") found.byMode = modelOfMode(bytes, start);
    return undefined;
  });
  return { threadId: found.threadId, model: found.byMode ?? found.model, cursor: found.cursor };
}

function modelOfMode(bytes: Buffer, at: number): string | null {
  let model: string | null = null;
  eachMember(bytes, at, (keyStart, keyEnd, start) => {
    if (textAt(bytes, keyStart, keyEnd) !== "settings") return undefined;
    model = null;
    eachMember(bytes, start, (innerStart, innerEnd, valueStart, valueEnd) => {
      if (textAt(bytes, innerStart, innerEnd) === "model") model = textAt(bytes, valueStart, valueEnd);
      return undefined;
    });
    return undefined;
  });
  return model;
}
