/** A part of a multipart body; `fileName` is null for an ordinary field. */
export interface FormPart {
  readonly fileName: string | null;
  readonly bytes: Buffer;
}

/** Reads a `multipart/form-data` body; null when it is none. The last part of a name counts. */
export function readForm(contentType: string | undefined, body: Buffer): ReadonlyMap<string, FormPart> | null {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(contentType ?? "")?.[1];
  if (boundary === undefined) return null;
  const parts = new Map<string, FormPart>();
  const mark = Buffer.from(`\r\n--${boundary}`);
  const all = Buffer.concat([Buffer.from("\r\n"), body]);
  for (let start = all.indexOf(mark); start >= 0; ) {
    const end = all.indexOf(mark, start + mark.length);
    if (end < 0) break;
    const part = all.subarray(start + mark.length + 2, end);
    const gap = part.indexOf("\r\n\r\n");
    const head = part.subarray(0, Math.max(0, gap)).toString("utf8");
    const name = /\bname="([^"]*)"/i.exec(head)?.[1];
    if (gap >= 0 && name !== undefined) parts.set(name, { fileName: /\bfilename="([^"]*)"/i.exec(head)?.[1] ?? null, bytes: part.subarray(gap + 4) });
    start = end;
  }
  return parts;
}
