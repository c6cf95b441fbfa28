import { HarnessCatalogue } from "../../harness/catalogue.ts";
import type { HarnessEntry } from "../../harness/catalogue.ts";
import { harnessEnvironment } from "../../harness/environment.ts";
import { silentLogger } from "../../log/logger.ts";
import type { Logger } from "../../log/logger.ts";
import type { ServerOptions } from "../server-options.ts";
import { unknownHarness } from "../start-host.ts";
import { fault, ok, warning } from "./check.ts";
import type { Check, Finding } from "./check.ts";

/** Names of harnesses that a server would refuse to start with. Null where there is none. */
export function harnessNamesCheck({ harnesses }: Pick<ServerOptions, "harnesses">): Check {
  return {
    id: "harnesses",
    run(): Finding | null {
      const problem = unknownHarness(harnesses);
      return problem === null ? null : fault(problem, "correct --harness (FOLDCAST_HARNESS, `harnesses` in the configuration file)");
    },
  };
}

/** Looks at one harness as a server would; never starts a model turn. One that hangs does not hold up the others. */
export function harnessCheck(entry: HarnessEntry, options: Pick<ServerOptions, "dataDir" | "harnessSettings" | "settingsByHarness" | "harnesses">): Check {
  return {
    id: `harness:${entry.id}`,
    async run(): Promise<Finding> {
      let trouble: unknown = null;
      const log: Logger = { ...silentLogger, error: (_message, fields) => void (trouble ??= fields?.["error"]) };
      const catalogue = new HarnessCatalogue({
        entries: [entry], extraToolMaps: {}, now: () => Date.now(), log,
        environment: (id, toolMaps) => harnessEnvironment(id, { dataDir: options.dataDir, log, toolMaps }),
        settings: (id) => ({ ...options.settingsByHarness[id], ...options.harnessSettings }),
      });
      // A harness that somebody asked for by name has to run.
      const bad = options.harnesses === null ? warning : fault;
      try {
        const adapter = (await catalogue.adapters()).get(entry.id);
        if (adapter === undefined) return fault(`cannot be loaded: ${trouble instanceof Error ? trouble.message : "unknown reason"}`, `correct [harness.${entry.id}] in the configuration, or leave the harness out with --harness`);
        const { ready, reason, version, models, permissionModes = [] } = await adapter.inspect();
        const name = `${adapter.manifest.displayName}${version === null ? "" : ` ${version}`}`;
        if (!ready) return bad(`${name}: not ready`, reason);
        const modes = permissionModes.length === 0 ? "" : `; permission modes ${permissionModes.join(", ")}`;
        const offer = `${name}: ${models.length} model${models.length === 1 ? "" : "s"}${modes}`;
        return reason === null ? ok(offer) : warning(offer, reason);
      } finally {
        void catalogue.close();
      }
    },
  };
}
