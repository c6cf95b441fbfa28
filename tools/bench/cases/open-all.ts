import { CODEX_THREAD } from "../codex-session.ts";
import { openingCase } from "../opening.ts";

/** Milliseconds to read a saved session of 10,000 items (35 MB) whole. */
export default openingCase(10_000, {
  // The real server answers without turns before it has read the file for a first page.
  beforeCodex: async (server) => (await server.ask("thread/resume", { threadId: CODEX_THREAD, excludeTurns: true })).result(),
  ask: (server, threadId) => server.ask("thread/read", { threadId, includeTurns: true }),
  turnsIn: (answer) => (answer.result() as { thread: { turns: unknown[] } }).thread.turns.length,
  expected: (turns) => turns,
});
