import type { Thread } from "@foldcast/protocol-core/wire";
import { editDistance } from "../../nearest.ts";
import { fit } from "../../terminal-text.ts";
import type { ThreadsClient } from "./client.ts";

/** So far is looked for what was meant. */
const LOOKED_AT = 5_000;
/** A letter or two that went wrong; the ids of neighbours in time differ in far more. */
const MISTYPED = 3;
const SHORTEST_START = 4;
const SHOWN = 5;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The thread of an id, or of the beginning of one that is no other's. Rejects with the threads that were probably
 * meant: by a mistyped id, by a beginning that several have, by a name.
 */
export async function findThread(client: ThreadsClient, given: string): Promise<Thread> {
  const exact = UUID.test(given) ? await client.read(given) : null;
  if (exact !== null) return exact;
  const wanted = given.toLowerCase();
  const begins: Thread[] = [];
  const near: Thread[] = [];
  for (const archived of [false, true]) {
    for await (const thread of client.list({ cwd: null, search: null, archived }, LOOKED_AT)) {
      if (wanted.length >= SHORTEST_START && thread.id.startsWith(wanted)) begins.push(thread);
      else if (nameOf(thread).toLowerCase().includes(wanted) || (wanted.length > SHORTEST_START && editDistance(wanted, thread.id.slice(0, wanted.length)) <= MISTYPED)) near.push(thread);
    }
  }
  const [first, second] = begins;
  if (first !== undefined && second === undefined) return first;
  if (first !== undefined) throw new Error(`several threads begin with \`${given}\`; give more of the id:\n${shown(begins)}`);
  throw new Error(`there is no thread \`${given}\`; ${near.length === 0 ? "foldcast threads list shows them" : `did you mean one of these?\n${shown(near)}`}`);
}

/** What a person knows it by. */
export function nameOf({ name, preview }: Thread): string {
  return name ?? preview;
}

/** The same for a list: a session may have begun with a command or a compaction, and never got a name. */
export function shownName(thread: Thread): string {
  return nameOf(thread).trim() === "" ? "(no prompt)" : nameOf(thread);
}

function shown(threads: readonly Thread[]): string {
  const lines = threads.slice(0, SHOWN).map((thread) => `  ${thread.id}  ${fit(shownName(thread), 60).trimEnd()}`);
  if (threads.length > SHOWN) lines.push(`  and ${threads.length - SHOWN} more`);
  return lines.join("\n");
}
