import { invalidRequest } from "@foldcast/protocol-core/wire";

/** Cursors of lists that both of us fill begin so; the real server makes none that does. */
export const CURSOR_HEAD = "foldcast:";

/** Where a list goes on in what the real server has: in its page that begins at `cursor`, behind the element `after`. */
export interface NativePlace {
  cursor: string | null;
  after: { id: string; time: number } | null;
}

/** Where a merged list goes on; null = that side has no more. */
export interface Place {
  native: NativePlace | null;
  ours: { cursor: string | null } | null;
}

export const START: Place = { native: { cursor: null, after: null }, ours: { cursor: null } };

export function encodePlace({ native, ours }: Place): string {
  const value = [native === null ? null : [native.cursor, native.after?.id ?? null, native.after?.time ?? null], ours === null ? null : [ours.cursor]];
  return CURSOR_HEAD + Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Throws the real server's refusal for what is no cursor of ours. */
export function decodePlace(cursor: string): Place {
  const refusal = invalidRequest(`invalid cursor: ${cursor}`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor.slice(CURSOR_HEAD.length), "base64url").toString("utf8"));
  } catch {
    throw refusal;
  }
  if (!cursor.startsWith(CURSOR_HEAD) || !Array.isArray(value) || value.length !== 2) throw refusal;
  const [native, ours] = value as unknown[];
  const isText = (each: unknown): each is string | null => each === null || typeof each === "string";
  if (native !== null) {
    if (!Array.isArray(native) || !isText(native[0]) || !isText(native[1]) || (native[1] !== null && typeof native[2] !== "number")) throw refusal;
  }
  if (ours !== null && (!Array.isArray(ours) || !isText(ours[0]))) throw refusal;
  const [page, id, time] = (native ?? []) as [string | null, string | null, number | null];
  return {
    native: native === null ? null : { cursor: page, after: id === null || time === null ? null : { id, time } },
    ours: ours === null ? null : { cursor: (ours as [string | null])[0] },
  };
}
