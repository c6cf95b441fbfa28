import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atExit } from "./exit.ts";

/** The root of the repository, with no trailing slash. */
export const REPO = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** What tests fetch and record; ignored by git and safe to delete at any time. */
export const CACHE = join(REPO, ".cache");

/** Recorded sessions and traffic, beside the repository. Only tests read them. */
export const SHARED = join(REPO, "..", "shared");

/** A new empty folder that is gone when the test process ends. */
export function temporaryDir(label: string): string {
  const dir = mkdtempSync(join(tmpdir(), `foldcast-${label}-`));
  atExit(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  return dir;
}

/** The environment of this process without anything that would let a child find the user's own files or settings. */
export function isolatedEnv(home: string, extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (/^(codex|openai|anthropic|claude|kimi|foldcast|xdg|vitest|tmux|npm_config_prefix)/i.test(name)) continue;
    env[name] = value;
  }
  return { ...env, HOME: home, CODEX_HOME: join(home, ".codex"), ...extra };
}
