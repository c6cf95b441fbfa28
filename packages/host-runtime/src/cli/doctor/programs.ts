import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { CODEX, findCodex, versionOf } from "../../native/program.ts";
import type { Surroundings } from "../../native/places.ts";
import { fault, ok, warning } from "./check.ts";
import type { Check, Finding } from "./check.ts";

/** What `engines` in the package says. */
const OLDEST_NODE = [20, 19] as const;

export function nodeCheck(version: string): Check {
  return {
    id: "node",
    run() {
      const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
      const [oldestMajor, oldestMinor] = OLDEST_NODE;
      const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
      return isOld ? fault(`Node ${version} is too old`, `install Node ${OLDEST_NODE.join(".")} or newer`) : ok(`Node ${version}`);
    },
  };
}

/** The Codex program: its TUI is a client of ours, and its app-server runs behind us with its own threads and models. */
export function codexCheck({ bin, wanted, around }: { bin: string | null; wanted: boolean; around: Surroundings }): Check {
  return {
    id: CODEX,
    async run(signal): Promise<Finding> {
      const install = `install it: npm install -g @openai/codex@${PROTOCOL_VERSION}`;
      const path = await findCodex(bin, around);
      if (path === null) {
        if (bin !== null) return fault(`there is no program ${bin}`, "correct --codex-bin (FOLDCAST_CODEX_BIN, codex_bin), or leave it out");
        return warning(`no ${CODEX} on the search path or in the usual places${wanted ? ": no TUI, and no threads and models of Codex itself" : ""}`, `${install}, or name it with --codex-bin FILE`);
      }
      const version = await versionOf(path, around.env, signal);
      if (version === null) return warning(`${path} does not say its version`, install);
      const role = wanted ? "its own threads and models are served, too" : "not started behind foldcast (--no-native)";
      if (version !== PROTOCOL_VERSION) return warning(`Codex ${version} at ${path}: ${role}; foldcast speaks the protocol of ${PROTOCOL_VERSION}`, `most works; to be sure, ${install}`);
      return ok(`Codex ${version} at ${path}: ${role}`);
    },
  };
}
