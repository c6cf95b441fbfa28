import { ErrorCode, WireError } from "@foldcast/protocol-core/wire";
import { jsonBytes } from "../rpc/frame.ts";
import { encodePlace } from "./cursors.ts";
import type { NativePlace, Place } from "./cursors.ts";
import { elementsOf, membersOf, textAt } from "./json-bytes.ts";

/** A list as the real server gives it, its elements and other members as they came. */
export interface NativePage {
  data: Buffer[];
  nextCursor: string | null;
  backwardsCursor: string | null;
  /** All other members of the result, as JSON. */
  rest: Map<string, Buffer>;
}

/** Throws for what is no page. */
export function readNativePage(result: Buffer): NativePage {
  const members = membersOf(result);
  const data = members?.get("data");
  const elements = data === undefined ? null : elementsOf(result, data.start);
  if (members === null || elements === null) throw new WireError(ErrorCode.internal, "the Codex app-server gave no readable list");
  const cursor = (name: string): string | null => {
    const span = members.get(name);
    return span === undefined ? null : textAt(result, span.start, span.end);
  };
  const page = { nextCursor: cursor("nextCursor"), backwardsCursor: cursor("backwardsCursor") };
  for (const name of ["data", "nextCursor", "backwardsCursor"]) members.delete(name);
  return {
    ...page,
    data: elements.map(({ start, end }) => result.subarray(start, end)),
    rest: new Map([...members].map(([name, { start, end }]) => [name, result.subarray(start, end)])),
  };
}

/** An element of ours: what it is sorted by, and the cursor of what comes behind it. */
export interface OurEntry {
  time: number;
  cursor: string;
  value: object | string;
}
export interface OurPage {
  entries: readonly OurEntry[];
  hasMore: boolean;
  backwardsCursor: string | null;
}

export interface MergeOptions {
  place: Place;
  /** Null = all there are. */
  limit: number | null;
  /** 1 for times that grow along the list, -1 for such that fall. */
  sign: 1 | -1;
  native(cursor: string | null, limit: number | null): Promise<NativePage>;
  ours(cursor: string | null, limit: number | null): Promise<OurPage>;
  /** What identifies an element of the real server, and what it is sorted by. Null = it is not listed. */
  keyOf(element: Buffer): { id: string; time: number } | null;
}

export interface MergedPage {
  data: (Buffer | object | string)[];
  nextCursor: string | null;
  /** Looks back from the first page; null for the others. */
  backwardsCursor: string | null;
  rest: Map<string, Buffer>;
}

/** A server that gives empty pages for ever is not followed for ever; the cursor goes on from there. */
const MOST_REQUESTS = 64;

/**
 * One page of two lists in one order. Both sides are sorted in themselves and stay so; of elements with the same time the
 * real server's come first. The cursor says how far each side has come, so no element is lost or given twice while the
 * lists stand still, and no cursor comes again.
 */
export async function mergedPage(options: MergeOptions): Promise<MergedPage> {
  const { limit, sign, place } = options;
  const native = new NativeSide(options);
  const ours = place.ours === null ? null : await options.ours(place.ours.cursor, limit);
  const data: MergedPage["data"] = [];
  let taken = 0;
  while (limit === null || data.length < limit) {
    const head = await native.head();
    if (head === STALLED) break;
    const entry = ours?.entries[taken];
    if (head === null && entry === undefined) break;
    if (entry === undefined || (head !== null && sign * (head.time - entry.time) <= 0)) {
      data.push(head!.element);
      native.take();
    } else {
      data.push(entry.value);
      taken += 1;
    }
  }
  const oursIsOver = ours === null || (taken === ours.entries.length && !ours.hasMore);
  const rest: Place = {
    native: native.place,
    ours: oursIsOver ? null : { cursor: taken === 0 ? place.ours!.cursor : ours.entries[taken - 1]!.cursor },
  };
  const isFirst = place.native?.cursor === null && place.native.after === null && place.ours?.cursor === null;
  const back: Place = { native: { cursor: native.backwardsCursor, after: null }, ours: { cursor: ours?.backwardsCursor ?? null } };
  return {
    data,
    nextCursor: rest.native === null && rest.ours === null ? null : encodePlace(rest),
    backwardsCursor: isFirst && data.length > 0 ? encodePlace(back) : null,
    rest: native.rest,
  };
}

const STALLED = Symbol("too many pages for one answer");

/** The real server's list, read page by page as far as it is needed. */
class NativeSide {
  readonly rest = new Map<string, Buffer>();
  backwardsCursor: string | null = null;
  readonly #options: MergeOptions;
  #place: NativePlace | null;
  #queue: { element: Buffer; id: string; time: number }[] = [];
  #next: string | null = null;
  #isLoaded = false;
  #requests = 0;

  constructor(options: MergeOptions) {
    this.#options = options;
    this.#place = options.place.native;
  }

  /** Where the list goes on behind what was taken. */
  get place(): NativePlace | null {
    if (this.#place === null || !this.#isLoaded || this.#queue.length > 0) return this.#place;
    return this.#next === null ? null : { cursor: this.#next, after: null };
  }

  /** The next element; null when there is none. */
  async head(): Promise<{ element: Buffer; time: number } | null | typeof STALLED> {
    while (this.#queue.length === 0) {
      const place = this.place;
      if (place === null) return null;
      if (this.#requests === MOST_REQUESTS) return STALLED;
      await this.#load(place);
    }
    return this.#queue[0]!;
  }

  take(): void {
    const { id, time } = this.#queue.shift()!;
    this.#place = { cursor: this.#place!.cursor, after: { id, time } };
  }

  async #load(place: NativePlace): Promise<void> {
    this.#requests += 1;
    const page = await this.#options.native(place.cursor, this.#options.limit);
    if (this.#requests === 1) this.backwardsCursor = page.backwardsCursor;
    for (const [name, value] of page.rest) this.rest.set(name, value);
    const entries = page.data.flatMap((element) => {
      const key = this.#options.keyOf(element);
      return key === null ? [] : [{ element, ...key }];
    });
    this.#place = place;
    this.#next = page.nextCursor;
    this.#isLoaded = true;
    this.#queue = place.after === null ? entries : behind(entries, place.after, this.#options.sign);
  }
}

/** What stands behind an element in a page that is read anew; where it is gone, what is sorted behind it. */
function behind<T extends { id: string; time: number }>(entries: readonly T[], after: { id: string; time: number }, sign: 1 | -1): T[] {
  const at = entries.findIndex(({ id }) => id === after.id);
  return at === -1 ? entries.filter(({ time }) => sign * (time - after.time) >= 0) : entries.slice(at + 1);
}

/** A list as JSON; `members` are such values already. */
export function listJson(data: readonly (Buffer | object | string)[], members: readonly (readonly [string, Buffer | string])[]): Buffer {
  const parts: Buffer[] = [Buffer.from('{"data":[')];
  data.forEach((element, at) => parts.push(Buffer.from(at === 0 ? "" : ","), Buffer.isBuffer(element) ? element : jsonBytes(element)));
  parts.push(Buffer.from("]"));
  for (const [name, value] of members) parts.push(Buffer.from(`,${JSON.stringify(name)}:`), Buffer.isBuffer(value) ? value : Buffer.from(value));
  parts.push(Buffer.from("}"));
  return Buffer.concat(parts);
}

/** The object with this member set: in its place where it stands, else at the end. The rest stays as it is written. */
export function withMember(object: Buffer, name: string, value: Buffer | string): Buffer {
  const members = membersOf(object);
  const span = members?.get(name);
  const json = Buffer.isBuffer(value) ? value : Buffer.from(value);
  if (span !== undefined) return Buffer.concat([object.subarray(0, span.start), json, object.subarray(span.end)]);
  const end = object.lastIndexOf("}");
  const comma = members === null || members.size === 0 ? "" : ",";
  return Buffer.concat([object.subarray(0, end), Buffer.from(`${comma}${JSON.stringify(name)}:`), json, object.subarray(end)]);
}
