import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { withLock } from "./lock.ts";

const PATIENCE_MS = 280_000;

/** Under `npm test` the environment carries the settings of this workspace; an install elsewhere must not see them. */
export function plainNpmEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|config_(local_prefix|prefix|workspace))/i.test(name)),
  );
}

/**
 * Installs packages, each as `name@version`, into a folder of their own with the ordinary npm client, once whoever asks;
 * `layOut` does what is left to do there. The exact version matters: npm takes an older one by itself where `engines` does
 * not fit.
 */
export async function installedOnce(folder: string, packages: readonly string[], layOut: () => void = () => undefined): Promise<void> {
  const done = join(folder, "installed");
  if (existsSync(done)) return;
  await withLock(join(folder, "lock"), PATIENCE_MS, async () => {
    if (existsSync(done)) return;
    const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--workspaces=false", ...packages];
    await promisify(execFile)("npm", args, { cwd: folder, env: plainNpmEnv(), timeout: PATIENCE_MS, maxBuffer: 1 << 24 });
    layOut();
    writeFileSync(done, `${packages.join(" ")}\n`);
  });
}
