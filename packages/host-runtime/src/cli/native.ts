import { homedir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../make-folder.ts";
import { findCodex } from "../native/program.ts";
import type { Surroundings } from "../native/places.ts";
import type { NativeProgram } from "../native/upstream.ts";
import type { Values } from "./options/option.ts";
import type { SERVER_OPTIONS } from "./table/options.ts";
import { UsageError } from "./usage-error.ts";

/** Where this process looks for programs. */
export function surroundings(env: NodeJS.ProcessEnv): Surroundings {
  return { env, home: env["HOME"] ?? homedir(), platform: process.platform };
}

/**
 * The real Codex behind a server of ours, with what the command line has for it; null where there is none, or none is
 * wanted. Throws a `UsageError` for one that was named and is not there.
 */
export async function nativeProgram(values: Pick<Values<typeof SERVER_OPTIONS>, "codex-bin" | "no-native">, env: NodeJS.ProcessEnv, words: readonly string[] = []): Promise<NativeProgram | null> {
  if (values["no-native"]) return null;
  const bin = values["codex-bin"];
  const program = await findCodex(bin, surroundings(env));
  if (program !== null) {
    makeHome(env);
    return { program, args: ["app-server", ...words], env: withoutOurs(env) };
  }
  if (bin !== null) throw new UsageError(`there is no Codex program ${bin}; correct --codex-bin (FOLDCAST_CODEX_BIN, codex_bin), or leave it out`);
  return null;
}

/** Measured with Codex 0.171: on standard streams it makes its home itself, on a unix socket it ends without one. */
function makeHome(env: NodeJS.ProcessEnv): void {
  // One that the person names has to be there, for Codex, too.
  if (env["CODEX_HOME"] !== undefined && env["CODEX_HOME"] !== "") return;
  try {
    makeFolder(join(surroundings(env).home, ".codex"), 0o700);
  } catch {
    // Codex says what is wrong with it.
  }
}

/** Our settings are nothing that the real Codex, and what it starts, should see. */
function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("FOLDCAST_")));
}
