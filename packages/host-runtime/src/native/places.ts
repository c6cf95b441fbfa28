import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** What the search depends on; the platform as in `process.platform`. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  platform: string;
}

/** Codex Desktop's own copy of the program, which is of the release that this Desktop wants. */
export function bundledPrograms({ home, platform, env }: Surroundings): string[] {
  if (platform === "darwin") return ["/Applications", join(home, "Applications")].map((folder) => join(folder, "Codex.app", "Contents", "Resources", "codex"));
  if (platform === "win32") return env["LOCALAPPDATA"] === undefined ? [] : [join(env["LOCALAPPDATA"], "Programs", "Codex", "resources", "codex.exe")];
  return ["/opt/Codex/resources/codex", "/opt/codex-desktop/resources/codex", "/usr/lib/codex-desktop/resources/codex"];
}

/**
 * Folders where installers put programs without every process having them on its search path: a program that a desktop
 * starts has a short one, and to ask a login shell for its own takes seconds. Of a version manager the newest version
 * goes first.
 */
export async function usualFolders({ env, home, platform }: Surroundings): Promise<string[]> {
  if (platform === "win32") {
    const roaming = env["APPDATA"] ?? join(home, "AppData", "Roaming");
    return [join(roaming, "npm"), join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "pnpm"), join(home, ".bun", "bin"), join(home, "scoop", "shims")];
  }
  const data = env["XDG_DATA_HOME"] ?? join(home, ".local", "share");
  const fixed = [
    join(home, ".local", "bin"), join(home, "bin"), join(home, ".npm-global", "bin"), join(env["VOLTA_HOME"] ?? join(home, ".volta"), "bin"),
    join(env["BUN_INSTALL"] ?? join(home, ".bun"), "bin"), join(home, ".cargo", "bin"), env["PNPM_HOME"] ?? join(data, "pnpm"), join(home, "Library", "pnpm"),
    join(data, "mise", "shims"), join(env["ASDF_DATA_DIR"] ?? join(home, ".asdf"), "shims"), "/opt/homebrew/bin", "/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/bin",
  ];
  const managed = await Promise.all([
    versionsIn(join(env["NVM_DIR"] ?? join(home, ".nvm"), "versions", "node"), "bin"),
    versionsIn(join(env["FNM_DIR"] ?? join(data, "fnm"), "node-versions"), join("installation", "bin")),
    versionsIn(join(home, "Library", "Application Support", "fnm", "node-versions"), join("installation", "bin")),
  ]);
  return [...fixed, ...managed.flat()];
}

async function versionsIn(folder: string, below: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.sort((one, other) => other.localeCompare(one, "en", { numeric: true })).map((name) => join(folder, name, below));
}
