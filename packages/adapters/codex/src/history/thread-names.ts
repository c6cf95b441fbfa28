import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codexHomeOf } from "./fork-parent.ts";
import { filledString, firstWords, parseRecord } from "@foldcast/adapter-kit";

const TITLE_CHARACTERS = 500;
const MAX_BYTES = 16 * 1024 * 1024;

interface Names {
  path: string;
  size: number;
  modifiedMs: number;
  byId: ReadonlyMap<string, string>;
}

/** The list that was read last: a look at all sessions of a home asks for it once for each. */
let known: Names | null = null;

/**
 * The name of a thread. Codex keeps names beside the rollouts, in `session_index.jsonl` of its home: one line for each
 * naming, the last one counts (0.171). Null where there is none. Never rejects.
 */
export async function nameOf(id: string | null, file: string): Promise<string | null> {
  const home = codexHomeOf(dirname(file));
  if (home === null || id === null) return null;
  try {
    const path = join(home, "session_index.jsonl");
    const { size, mtimeMs } = await stat(path);
    if (size > MAX_BYTES) return null;
    if (known?.path !== path || known.size !== size || known.modifiedMs !== mtimeMs) {
      known = { path, size, modifiedMs: mtimeMs, byId: namesIn(await readFile(path, "utf8")) };
    }
    return known.byId.get(id) ?? null;
  } catch {
    return null;
  }
}

function namesIn(text: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const line of text.split("\n")) {
    const record = parseRecord(line);
    const [id, name] = [filledString(record?.["id"]), filledString(record?.["thread_name"])];
    if (id !== null && name !== null) names.set(id, firstWords(name, TITLE_CHARACTERS));
  }
  return names;
}
