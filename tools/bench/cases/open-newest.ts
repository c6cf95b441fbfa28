import { openingCase } from "../opening.ts";

/** The page that Codex Desktop asks for first. */
const FIRST_PAGE = 5;

/** Milliseconds to open a saved session of 10,000 items (35 MB): its newest turns, as Codex Desktop asks for them. */
export default openingCase(10_000, {
  ask: (server, threadId) => server.ask("thread/resume", { threadId, excludeTurns: true, initialTurnsPage: { limit: FIRST_PAGE, itemsView: "full", sortDirection: "desc" } }),
  turnsIn: (answer) => (answer.result() as { initialTurnsPage: { data: unknown[] } }).initialTurnsPage.data.length,
  expected: () => FIRST_PAGE,
});
