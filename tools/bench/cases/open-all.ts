import { openingCase } from "../opening.ts";

/** Milliseconds to index a saved Claude Code session of 10,000 items (35 MB) and to project every turn of it. */
export default openingCase(10_000, Infinity);
