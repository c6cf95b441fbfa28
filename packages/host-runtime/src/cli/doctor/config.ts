import { stat } from "node:fs/promises";
import { nearest } from "../../nearest.ts";
import type { ConfigFile } from "../options/config-file.ts";
import { environmentName } from "../options/option.ts";
import { ALL_SETTINGS } from "../table/options.ts";
import { ok, warning } from "./check.ts";
import type { Check, Finding } from "./check.ts";

/** A configuration file that was read; a broken one is told of before. */
export function configCheck(file: ConfigFile | null, defaultPath: string): Check {
  return {
    id: "config",
    async run(): Promise<Finding> {
      if (file === null) return ok(`no file at ${defaultPath}: defaults`);
      // It names programs that are started.
      const info = await stat(file.path);
      if (process.platform !== "win32" && (info.mode & 0o022) !== 0) return warning(`${file.path} can be changed by others on this machine`, `chmod go-w ${file.path}`);
      return ok(file.path);
    },
  };
}

/** Variables that look like settings and are none. Null where there are none of them. */
export function environmentCheck(env: NodeJS.ProcessEnv): Check {
  const known = [...Object.keys(ALL_SETTINGS), "config"].map(environmentName);
  return {
    id: "environment",
    run(): Finding | null {
      const strangers = Object.keys(env).filter((name) => /^FOLDCAST_/.test(name) && !known.includes(name));
      if (strangers.length === 0) return null;
      const meant = strangers.map((name) => nearest(name, known)).filter((name) => name !== null);
      return warning(`${strangers.join(", ")}: no setting has this name`, meant.length > 0 ? `did you mean ${meant.join(", ")}?` : "foldcast serve --help lists the settings");
    },
  };
}
