import { join } from "node:path";
import { REPO } from "./paths.ts";

/** Where `global-setup.ts` has put the command line for this run of tests. */
export const BUNDLE_VARIABLE = "TEST_FOLDCAST_BUNDLE";

/** How the source is started; the same as the scripts of package.json without npm between us and the process. */
export const FROM_SOURCE: readonly [string, readonly string[]] = [
  process.execPath,
  ["--conditions=@foldcast/source", "--import", "tsx", join(REPO, "packages/host-runtime/src/cli/main.ts")],
];

const bundle = process.env[BUNDLE_VARIABLE];

/** How `foldcast` is started: from the bundle of the source, which is up in a fifth of the time; else from the source. */
export const FOLDCAST: readonly [string, readonly string[]] = bundle === undefined ? FROM_SOURCE : [process.execPath, ["--enable-source-maps", bundle]];
