import type { HarnessDefinition } from "@foldcast/protocol-core/harness";
import { manifest } from "./manifest.ts";
import { settingWords } from "./settings.ts";

export { history } from "./history/source.ts";

/** Kimi Code, run as `kimi acp`. Settings: `bin`, `args`, `env`. */
export const definition: HarnessDefinition = {
  manifest,
  settings: settingWords,
  create: async (environment, settings) => {
    const { KimiAdapter } = await import("./adapter.ts");
    return new KimiAdapter(environment, settings);
  },
};
