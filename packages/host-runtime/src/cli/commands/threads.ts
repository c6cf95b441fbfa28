import { realpathSync } from "node:fs";
import type { Call } from "../command.ts";
import { connect } from "../connect.ts";
import { stopHost } from "../start-host.ts";
import type { THREADS_OPTIONS } from "../table/options.ts";
import { ThreadsClient } from "../threads/client.ts";
import { findThread } from "../threads/find.ts";
import { headLines, LIST_HEADER, listLine, threadRow, turnLines, turnRow } from "../threads/show.ts";
import type { ThreadRow, TurnRow } from "../threads/show.ts";
import type { Values } from "../options/option.ts";
import { UsageError } from "../usage-error.ts";

interface Work {
  client: ThreadsClient;
  values: Values<typeof THREADS_OPTIONS>;
  operands: readonly string[];
  out: (text: string) => void;
  note: (text: string) => void;
}

const VERBS: Readonly<Record<string, (work: Work) => Promise<void>>> = { list, show, archive, unarchive, rename };
/** Operands of each, at least and at most. */
const OPERANDS: Readonly<Record<string, readonly [number, number]>> = { list: [0, 0], show: [1, 1], archive: [1, Infinity], unarchive: [1, Infinity], rename: [2, 2] };

export async function run({ settings, operands: [verb = "", ...operands], env, stdout, stderr }: Call<typeof THREADS_OPTIONS>): Promise<number> {
  const [least, most] = OPERANDS[verb]!;
  if (operands.length < least) throw new UsageError(verb === "rename" ? "rename takes a thread and its new name" : `${verb} takes the id of a thread; foldcast threads list shows them`);
  if (operands.length > most) throw new UsageError(verb === "rename" ? "put the new name in quotes" : `\`${operands[most]!}\` is one operand too many`);
  const { values, file } = await settings();
  const link = await connect({ values, file, env, stderr, withCodex: true, wholeLists: true });
  const client = new ThreadsClient(link.transport);
  try {
    await client.initialize();
    await VERBS[verb]!({ client, values, operands, out: (text) => void stdout.write(`${text}\n`), note: (text) => void stderr.write(`${text}\n`) });
    return 0;
  } finally {
    client.close();
    if (link.running !== null) await stopHost(link.running);
  }
}

/** One more than is shown tells whether there are more. */
function limitOf({ limit }: Work["values"]): number {
  return limit === 0 ? Infinity : limit;
}

async function list({ client, values, out, note }: Work): Promise<void> {
  const limit = limitOf(values);
  const { archived } = values;
  const rows: (ThreadRow & { archived: boolean })[] = [];
  let count = 0;
  for await (const thread of client.list({ cwd: values.cwd === null ? null : namesOf(values.cwd), search: values.search, archived }, limit + 1)) {
    if (++count > limit) break;
    if (values.json) rows.push({ ...threadRow(thread), archived });
    else out(`${count === 1 ? `${LIST_HEADER}\n` : ""}${listLine(thread)}`);
  }
  if (values.json) return out(JSON.stringify(rows));
  if (count === 0) note(nothingListed(values));
  if (count > limit) note(`there are more: --limit N, 0 for all; --search TEXT and --cwd DIR choose`);
}

function nothingListed({ archived, cwd, search }: Work["values"]): string {
  const none = archived ? "no archived thread" : "no thread";
  if (cwd !== null || search !== null) return `${none} fits; without --cwd and --search all are listed`;
  return archived ? none : `${none} yet; foldcast chat begins one`;
}

/** A session may have been begun under another name of the same folder. */
function namesOf(cwd: string): string[] {
  try {
    return [...new Set([cwd, realpathSync(cwd)])];
  } catch {
    return [cwd];
  }
}

async function show({ client, values, operands: [id = ""], out, note }: Work): Promise<void> {
  const thread = await findThread(client, id);
  const limit = limitOf(values);
  const turns: TurnRow[] = [];
  let count = 0;
  for await (const turn of client.turns(thread.id, limit + 1)) if (++count <= limit) turns.push(turnRow(turn));
  turns.reverse();
  if (values.json) return out(JSON.stringify({ thread: threadRow(thread), turns }));
  for (const line of headLines(thread)) out(line);
  if (count > limit) note(`the newest ${limit} turns: --limit N shows more, 0 all`);
  for (const turn of turns) for (const line of turnLines(turn)) out(line);
}

async function archive(work: Work): Promise<void> {
  await each(work, async (id) => {
    await work.client.archive(id);
    return { id, archived: true };
  }, ({ id }) => `archived ${id}; foldcast threads unarchive brings it back`);
}

async function unarchive(work: Work): Promise<void> {
  await each(work, async (id) => {
    await work.client.unarchive(id);
    return { id, archived: false };
  }, ({ id }) => `${id} is in the list again`);
}

async function rename(work: Work): Promise<void> {
  const [id = "", name = ""] = work.operands;
  if (name.trim() === "") throw new UsageError("a name has at least one letter");
  await each({ ...work, operands: [id] }, async (found) => {
    await work.client.rename(found, name);
    return { id: found, name: name.trim() };
  }, (row) => `${row.id} is now: ${row.name}`);
}

/** All are looked up before one is changed: a mistyped id changes nothing. */
async function each<T extends { id: string }>({ client, values, operands, out }: Work, change: (id: string) => Promise<T>, say: (row: T) => string): Promise<void> {
  const ids: string[] = [];
  for (const given of operands) ids.push((await findThread(client, given)).id);
  for (const id of new Set(ids)) {
    const row = await change(id);
    out(values.json ? JSON.stringify(row) : say(row));
  }
}
