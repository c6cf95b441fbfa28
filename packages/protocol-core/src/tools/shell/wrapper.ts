import { shlexSplit } from "./shlex.ts";

const POSIX_SHELLS: ReadonlySet<string> = new Set(["bash", "sh", "zsh"]);
const POWERSHELLS: ReadonlySet<string> = new Set(["powershell", "powershell.exe", "pwsh", "pwsh.exe"]);
const POWERSHELL_PLAIN_FLAGS: ReadonlySet<string> = new Set(["-nologo", "-noprofile"]);

/** A script taken out of an argument vector, with the language it is written in. */
export interface WrappedScript {
  dialect: "posix" | "powershell";
  script: string;
}

/**
 * The script of `bash -lc <script>`, `pwsh -NoProfile -Command <script>` and the like; null when the vector
 * is not such a wrapper (Codex 0.171 behaviour: exactly three words for a POSIX shell).
 */
export function shellScriptOf(argv: readonly string[]): WrappedScript | null {
  const [shell, flag, script] = argv;
  if (shell === undefined || flag === undefined || script === undefined) return null;
  const name = baseName(shell);
  if (POSIX_SHELLS.has(name)) {
    return argv.length === 3 && (flag === "-lc" || flag === "-c") ? { dialect: "posix", script } : null;
  }
  if (!POWERSHELLS.has(name.toLowerCase())) return null;
  for (let index = 1; index + 1 < argv.length; index++) {
    const lowered = (argv[index] ?? "").toLowerCase();
    if (lowered === "-command" || lowered === "-c") return { dialect: "powershell", script: argv[index + 1] ?? "" };
    if (!POWERSHELL_PLAIN_FLAGS.has(lowered)) return null;
  }
  return null;
}

/**
 * The script inside a displayed command line such as `/bin/bash -lc '<script>'`, for showing it without
 * its wrapper; null when the line is not a shell wrapper.
 */
export function unwrapShell(command: string): string | null {
  const argv = shlexSplit(command);
  return argv === null ? null : (shellScriptOf(argv)?.script ?? null);
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
