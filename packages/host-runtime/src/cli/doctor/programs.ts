import { homedir } from "node:os";
import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { CODEX, findCodex, versionOf } from "../../native/program.ts";
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

/** The Codex program: its TUI is a client of ours, its app-server runs Codex's own models. */
export function codexCheck({ bin, wanted, env }: { bin: string | null; wanted: boolean; env: NodeJS.ProcessEnv }): Check {
  return {
    id: CODEX,
    async run(signal): Promise<Finding> {
      const install = `install it: npm install -g @openai/codex@${PROTOCOL_VERSION}`;
      const path = await findCodex(bin, { env, home: env["HOME"] ?? homedir(), platform: process.platform });
      if (path === null) {
        if (bin !== null) return fault(`there is no program ${bin}`, "correct --codex-bin (FOLDCAST_CODEX_BIN, codex_bin), or leave it out");
        return warning(`no ${CODEX} on the search path${wanted ? ": no TUI, and no models of Codex itself" : ""}`, `${install}, or name it with --codex-bin FILE`);
      }
      const version = await versionOf(path, env, signal);
      if (version === null) return warning(`${path} does not say its version`, install);
      if (version !== PROTOCOL_VERSION) return warning(`Codex ${version} at ${path}; foldcast speaks the protocol of ${PROTOCOL_VERSION}`, `most works; to be sure, ${install}`);
      return ok(`Codex ${version} at ${path}`);
    },
  };
}
