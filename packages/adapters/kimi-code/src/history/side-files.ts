import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { filledString, type JsonRecord, objectOf, objectsOf } from "@foldcast/adapter-kit";

/** A file beside the session that is larger is left out. */
const MAX_BYTES = 1024 * 1024;
const SAFE_NAME = /^[\w@.-]{1,200}$/;

/**
 * Files that Kimi Code keeps beside an agent's `wire.jsonl`: copies of edited files (`file-history/<hash>@v<n>`) and
 * pictures (`blobs/<hash>`, base64, named in records as `blobref:<type>;<hash>`).
 */
export class SideFiles {
  readonly #folder: string;

  constructor(wireFile: string) {
    this.#folder = dirname(wireFile);
  }

  /** The copy that a `file_history.tracked` record names; null when it cannot be had. */
  async copy(key: string): Promise<string | null> {
    const name = /^file-history\/([^/]+)$/.exec(key)?.[1];
    const text = name === undefined ? null : await this.#read("file-history", name);
    // Bytes that are no text would make a diff of nonsense.
    return text === null || text.includes("\u0000") || text.includes("\ufffd") ? null : text;
  }

  /** The record with its pictures in their place, as far as they can be had. */
  async withBlobs(record: JsonRecord): Promise<JsonRecord> {
    const refs = new Map<string, string>();
    for (const ref of blobRefs(record)) {
      const [, type, hash] = /^blobref:([^;]+);([0-9a-f]+)$/.exec(ref) ?? [];
      const data = hash === undefined ? null : await this.#read("blobs", hash);
      if (data !== null) refs.set(ref, `data:${type};base64,${data}`);
    }
    return refs.size === 0 ? record : (replaced(record, refs) as JsonRecord);
  }

  async #read(folder: string, name: string): Promise<string | null> {
    if (!SAFE_NAME.test(name)) return null;
    const path = join(this.#folder, folder, name);
    try {
      const info = await stat(path);
      return info.isFile() && info.size <= MAX_BYTES * 1.5 ? await readFile(path, "utf8") : null;
    } catch {
      return null;
    }
  }
}

/** Pictures stand in prompts, in messages and in results. */
function blobRefs(record: JsonRecord): string[] {
  const lists = [record["input"], objectOf(record["message"])["content"], objectOf(objectOf(record["event"])["result"])["output"]];
  return lists.flatMap(objectsOf).flatMap((part) => Object.values(part).flatMap((value) => {
    const url = filledString(objectOf(value)["url"]);
    return url?.startsWith("blobref:") === true ? [url] : [];
  }));
}

function replaced(value: unknown, refs: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return refs.get(value) ?? value;
  if (Array.isArray(value)) return value.map((member) => replaced(member, refs));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member, refs)]));
}
