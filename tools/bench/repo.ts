import { fileURLToPath } from "node:url";

/** The root of the repository, with no trailing slash. */
export const REPO = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
