import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { claudeFile, claudeLines, scriptedFile, scriptedLines, writeSession } from "../../../tests/support/saved-sessions.ts";
import type { BenchCase } from "../case.ts";
import { rolloutFile, shortRollout } from "../codex-session.ts";
import { Asking } from "../wire/asking.ts";
import { buildFoldcast } from "../wire/servers.ts";

const SESSIONS = 5_000;
const PAGE = 100;
/** Lists that come one after the other are answered with one look at the files; a person's come later. */
const APART_MS = 300;
const PARAMS = { limit: PAGE, sortKey: "updated_at" };

const root = mkdtempSync(join(tmpdir(), "foldcast-bench-"));
const homeOf = (n: number): string => join(root, `home-${String(n)}`);
const dataOf = (n: number): string => join(root, `data-${String(n)}`);
const codexOf = (n: number): string => join(root, `codex-${String(n)}`);
const servers = new Map<string, Promise<Asking>>();
let fresh = 0;

/** Half of them of Claude Code, half of the scripted harness. */
function writeSessions(n: number): void {
  for (let at = 0; at < n; at += 1) {
    const turns = [{ prompt: `Make test ${String(at)} pass.`, answer: `Test ${String(at)} passes.` }];
    if (at % 2 === 0) writeSession(claudeFile(homeOf(n), at), claudeLines(at, turns), at);
    else writeSession(scriptedFile(dataOf(n), at), scriptedLines(at, turns), at);
  }
}

function writeRollouts(n: number): void {
  for (let at = 0; at < n; at += 1) {
    const file = rolloutFile(codexOf(n), at);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, shortRollout(at));
  }
}

async function list(server: Asking): Promise<number> {
  const answer = await server.ask("thread/list", PARAMS);
  const { length } = (answer.result() as { data: unknown[] }).data;
  if (length !== PAGE) throw new Error(`${String(length)} threads instead of ${String(PAGE)}`);
  return answer.ms;
}

/** All of it, page after page, as Codex Desktop's sidebar asks. */
async function listAll(server: Asking, n: number): Promise<number> {
  let ms = 0;
  let count = 0;
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const answer = await server.ask("thread/list", { ...PARAMS, cursor });
    const page = answer.result() as { data: unknown[]; nextCursor: string | null };
    ms += answer.ms;
    count += page.data.length;
    cursor = page.nextCursor;
  }
  if (count !== n) throw new Error(`${String(count)} threads instead of ${String(n)}`);
  return ms;
}

/** A process for all runs, which has listed once. */
async function warm(name: string, n: number, start: () => Promise<Asking>): Promise<Asking> {
  const key = `${name} ${String(n)}`;
  const known = servers.get(key) ?? start().then(async (server) => {
    await server.ask("thread/list", PARAMS);
    return server;
  });
  servers.set(key, known);
  const server = await known;
  await sleep(APART_MS);
  return server;
}
const foldcast = (n: number): Promise<Asking> => warm("foldcast", n, () => Asking.foldcast(homeOf(n), dataOf(n)));

/** The first list of a process, whose start is no part of the time. */
async function firstList(server: Asking): Promise<number> {
  try {
    return await list(server);
  } finally {
    await server.stop();
  }
}

/** A data folder with the scripted sessions in it and nothing else. */
function freshData(n: number): string {
  const folder = join(root, `fresh-${String(fresh++)}`);
  cpSync(dataOf(n), folder, { recursive: true, preserveTimestamps: true, filter: (source) => source === dataOf(n) || source.startsWith(join(dataOf(n), "harness")) });
  return folder;
}

const also: Record<string, (n: number) => Promise<number>> = {
  "foldcast, all pages": async (n) => listAll(await foldcast(n), n),
  "foldcast, first scan": async (n) => firstList(await Asking.foldcast(homeOf(n), freshData(n))),
  "foldcast, after a restart": async (n) => {
    const folder = join(root, `again-${String(n)}`);
    if (!existsSync(folder)) {
      renameSync(freshData(n), folder);
      await firstList(await Asking.foldcast(homeOf(n), folder));
    }
    return firstList(await Asking.foldcast(homeOf(n), folder));
  },
};

/** Milliseconds of the newest page of a list of saved sessions, in a process that has seen them before. */
const bench: BenchCase = {
  n: SESSIONS,
  unit: "ms",
  growthFrom: SESSIONS / 10,
  runs: { warmUp: 1, measured: 5 },
  also,
  async prepare(n) {
    if (servers.size === 0) buildFoldcast();
    writeSessions(n);
    writeRollouts(n);
    const probe = Asking.codex(codexOf(n));
    if (probe === null) return;
    await (await probe).stop();
    also["codex"] = async (size) => list(await warm("codex", size, () => Asking.codex(codexOf(size))!));
    also["codex, all pages"] = async (size) => listAll(await warm("codex", size, () => Asking.codex(codexOf(size))!), size);
  },
  run: async (n) => list(await foldcast(n)),
  async close() {
    for (const server of servers.values()) await (await server).stop();
    rmSync(root, { recursive: true, force: true });
  },
};
export default bench;
