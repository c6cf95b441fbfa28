import { readFileSync } from "node:fs";
import { homedir, machine, release, type } from "node:os";
import { join, resolve } from "node:path";
import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";

/** The machine, as `initialize` names it. */
export interface Platform {
  codexHome: string;
  family: "unix" | "windows";
  os: string;
  /** The middle of a user agent: `(Debian 12.0.0; x86_64) xterm`. */
  description: string;
}

export function describePlatform(env: NodeJS.ProcessEnv = process.env): Platform {
  const windows = process.platform === "win32";
  return {
    codexHome: resolve(env["CODEX_HOME"] ?? join(homedir(), ".codex")),
    family: windows ? "windows" : "unix",
    os: windows ? "windows" : process.platform === "darwin" ? "macos" : process.platform,
    description: `(${systemName()}; ${machine()}) ${env["TERM_PROGRAM"] ?? env["TERM"] ?? "unknown"}`,
  };
}

/** `<first client>/<Codex release> (…) (<client>; <version>)`: clients read the release from it. */
export function userAgent(platform: Platform, firstClient: string, client: string, version: string): string {
  return `${firstClient}/${PROTOCOL_VERSION} ${platform.description} (${client}; ${version})`;
}

function systemName(): string {
  try {
    const file = readFileSync("/etc/os-release", "utf8");
    const member = (name: string): string | undefined => new RegExp(`^${name}="?([^"\n]*)`, "m").exec(file)?.[1];
    const name = member("NAME")?.split(" ")[0];
    const version = (member("VERSION_ID") ?? "0").split(".");
    if (name !== undefined) return `${name} ${[version[0], version[1] ?? "0", version[2] ?? "0"].join(".")}`;
  } catch {
    // Not a Linux with that file: the kernel's own words have to do.
  }
  return `${type()} ${release()}`;
}
