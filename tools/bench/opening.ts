import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchCase } from "./case.ts";
import { CODEX_THREAD, rolloutFile, writeRollout } from "./codex-session.ts";
import { SESSION_ID, writeClaudeSession } from "./claude-session.ts";
import { Asking, type Asked } from "./wire/asking.ts";
import { buildFoldcast } from "./wire/servers.ts";

/** What a client asks to open a thread, and how to tell that the answer is whole. */
export interface Opening {
  /** What the real program is asked before, in each new process; not measured. */
  beforeCodex?(server: Asking): Promise<unknown>;
  ask(server: Asking, threadId: string): Promise<Asked>;
  turnsIn(answer: Asked): number;
  /** Turns that the answer must have, of so many. */
  expected(turns: number): number;
}

/**
 * A case that opens a saved session of n items (3.5 kB each) which the server has never opened, in a new process of the
 * built program. Beside it: the same process once more, a new process that finds what the first one kept, and the pinned
 * real program on a rollout with the same conversation.
 */
export function openingCase(n: number, opening: Opening): BenchCase {
  const root = mkdtempSync(join(tmpdir(), "foldcast-bench-"));
  const turnsOf = new Map<number, number>();
  const home = (items: number): string => join(root, `home-${String(items)}`);
  const codexHome = (items: number): string => join(root, `codex-${String(items)}`);
  let folders = 0;
  const fresh = (): string => join(root, `fresh-${String(folders++)}`);
  const kept = new Map<string, Promise<Asking>>();
  const also: Record<string, (items: number) => Promise<number>> = {};

  async function open(server: Asking, threadId: string, items: number): Promise<number> {
    const answer = await opening.ask(server, threadId);
    const got = opening.turnsIn(answer);
    const expected = opening.expected(turnsOf.get(items)!);
    if (got !== expected) throw new Error(`${String(got)} turns instead of ${String(expected)}`);
    return answer.ms;
  }
  /** Every client lists before it opens; that is where the thread's id comes from. */
  async function foldcast(items: number, dataDir: string): Promise<{ server: Asking; threadId: string }> {
    const server = await Asking.foldcast(home(items), dataDir);
    const [thread] = ((await server.ask("thread/list", {})).result() as { data: { id: string }[] }).data;
    return { server, threadId: thread!.id };
  }
  async function codex(folder: string): Promise<Asking> {
    const server = await Asking.codex(folder)!;
    (await server.ask("thread/list", {})).result();
    await opening.beforeCodex?.(server);
    return server;
  }
  /** One process for all runs of a size. */
  function shared(name: string, items: number, start: () => Promise<Asking>): Promise<Asking> {
    const key = `${name} ${String(items)}`;
    const known = kept.get(key) ?? start();
    kept.set(key, known);
    return known;
  }

  async function first(items: number): Promise<number> {
    const dataDir = fresh();
    const { server, threadId } = await foldcast(items, dataDir);
    try {
      return await open(server, threadId, items);
    } finally {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }

  also["foldcast, again in the same process"] = async (items) => {
    let id = "";
    const server = await shared("same", items, async () => {
      const { server: made, threadId } = await foldcast(items, fresh());
      id = threadId;
      await open(made, threadId, items);
      return made;
    });
    if (id === "") id = ((await server.ask("thread/list", {})).result() as { data: { id: string }[] }).data[0]!.id;
    return open(server, id, items);
  };
  const known = new Map<number, string>();
  also["foldcast, after a restart"] = async (items) => {
    const dataDir = known.get(items) ?? fresh();
    for (let run = known.has(items) ? 1 : 0; ; run += 1) {
      known.set(items, dataDir);
      const { server, threadId } = await foldcast(items, dataDir);
      const ms = await open(server, threadId, items);
      // What is kept is written behind the answer.
      if (run === 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
      await server.stop();
      if (run > 0) return ms;
    }
  };

  return {
    n,
    unit: "ms",
    growthFrom: n / 10,
    runs: { warmUp: 1, measured: 5 },
    also,
    async prepare(items) {
      if (turnsOf.size === 0) buildFoldcast();
      const folder = join(home(items), ".claude", "projects", "-repo");
      await mkdir(folder, { recursive: true });
      turnsOf.set(items, await writeClaudeSession(join(folder, `${SESSION_ID}.jsonl`), items));
      await writeRollout(rolloutFile(codexHome(items)), items);
      const probe = Asking.codex(codexHome(items));
      if (probe === null) return;
      await (await probe).stop();
      also["codex"] = async (size) => {
        const folderOfRun = fresh();
        cpSync(join(codexHome(size), "sessions"), join(folderOfRun, "sessions"), { recursive: true });
        const server = await codex(folderOfRun);
        try {
          return await open(server, CODEX_THREAD, size);
        } finally {
          await server.stop();
          rmSync(folderOfRun, { recursive: true, force: true });
        }
      };
      also["codex, again in the same process"] = async (size) => {
        const server = await shared("codex", size, async () => {
          const made = await codex(codexHome(size));
          await open(made, CODEX_THREAD, size);
          return made;
        });
        return open(server, CODEX_THREAD, size);
      };
    },
    run: first,
    async close() {
      for (const server of kept.values()) await (await server).stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
