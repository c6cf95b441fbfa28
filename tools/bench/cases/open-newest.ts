import { openingCase } from "../opening.ts";

/** The page that Codex Desktop asks for first. */
const FIRST_PAGE = 5;

/** Milliseconds to index a saved Claude Code session of 10,000 items (35 MB) and to project its newest turns. */
export default openingCase(10_000, FIRST_PAGE);
