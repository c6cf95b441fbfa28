import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HarnessEnvironment, HarnessInspection, HarnessModel } from "@foldcast/protocol-core/harness";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { MODES } from "./live/modes.ts";
import type { Frame } from "./program/frame.ts";
import { ClaudeProgram } from "./program/program.ts";

const LOGIN = "Claude Code is not logged in: run `claude auth login`, or set ANTHROPIC_API_KEY.";
/** Starts nothing of the user's (hooks, plugins, MCP servers) and writes no session. */
const LOOK_ARGS = ["--no-session-persistence", "--safe-mode"];
const NO_EFFORT = "none";

/** What a started program says of itself before any turn. Never rejects. */
export async function inspectProgram(program: { bin: string; env: NodeJS.ProcessEnv; log: HarnessEnvironment["log"] }): Promise<HarnessInspection> {
  // A folder of nobody's: the program looks into the one in which it is started.
  const cwd = await mkdtemp(join(tmpdir(), "foldcast-claude-"));
  try {
    return await look(program, cwd, LOOK_ARGS).catch((error: unknown) => {
      // Older versions know no safe mode.
      if (error instanceof Error && error.message.includes("unknown option")) return look(program, cwd, []);
      throw error;
    });
  } catch (error) {
    return { ready: false, reason: `Claude Code cannot be used: ${error instanceof Error ? error.message : String(error)}`, version: null, models: [] };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

async function look({ bin, env, log }: { bin: string; env: NodeJS.ProcessEnv; log: HarnessEnvironment["log"] }, cwd: string, args: readonly string[]): Promise<HarnessInspection> {
  const running = await ClaudeProgram.start({ bin, args, cwd, env, log, onFrame: () => undefined, onEnd: () => undefined });
  try {
    const { about } = running;
    const settings = await running.request({ subtype: "get_settings" }).catch(() => ({}));
    const effort = filledString(objectOf(objectOf(settings)["applied"])["effort"]);
    const models = (Array.isArray(about["models"]) ? about["models"].filter(isJsonObject) : []).map((model) => modelOf(model, effort));
    const ready = isLoggedIn(objectOf(about["account"]));
    return { ready, reason: ready ? null : LOGIN, version: filledString(about["claude_code_version"]), models, permissionModes: MODES };
  } finally {
    await running.close();
  }
}

/** Keys, tokens and sign-ins each have a member of their own; other providers have their own credentials (2.1.332). */
function isLoggedIn(account: Frame): boolean {
  const { apiProvider, tokenSource, apiKeySource, email } = account;
  const given = (source: unknown): boolean => typeof source === "string" && source !== "" && source !== "none";
  return given(tokenSource) || given(apiKeySource) || given(email) || (typeof apiProvider === "string" && apiProvider !== "firstParty");
}

function modelOf(model: Frame, applied: string | null): HarnessModel {
  const levels = Array.isArray(model["supportedEffortLevels"]) ? model["supportedEffortLevels"].filter((level) => typeof level === "string") : [];
  const efforts = levels.length === 0 ? [NO_EFFORT] : levels;
  const id = filledString(model["value"]) ?? "default";
  return {
    id,
    displayName: filledString(model["displayName"]) ?? id,
    description: stringOf(model["description"]) ?? "",
    efforts,
    defaultEffort: efforts.find((effort) => effort === applied) ?? efforts[0]!,
    images: true,
  };
}
