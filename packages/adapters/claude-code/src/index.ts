import type { HarnessDefinition } from "@foldcast/protocol-core/harness";
import { manifest } from "./manifest.ts";

export { history } from "./history/source.ts";

/** Claude Code as it is installed on this machine, with its own login, configuration and sessions. */
export const definition: HarnessDefinition = {
  manifest,
  settings: {
    bin: "the program, default `claude` on the PATH",
    args: "further arguments for every session",
    env: "environment variables on top of the host's own",
  },
  create: async (environment, settings) => {
    const { ClaudeAdapter } = await import("./adapter.ts");
    return new ClaudeAdapter(environment, settings);
  },
};
