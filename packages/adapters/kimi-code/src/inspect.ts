import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { withoutSecrets, filledString, type JsonRecord, objectOf, parseRecord } from "@foldcast/adapter-kit";
import type { HarnessInspection, HarnessModel } from "@foldcast/protocol-core/harness";

const run = promisify(execFile);
const PATIENCE_MS = 60_000;
const LOGIN = "Kimi Code has no model to use: run `kimi login`, or add a provider with `kimi provider`.";
const OFF = "off";

/**
 * What the program says of itself and its configuration (`kimi --version`, `kimi provider list --json` of 2.1.0): no
 * session is made and no model is asked. Never rejects.
 */
export async function inspectProgram(bin: string, env: NodeJS.ProcessEnv): Promise<HarnessInspection> {
  const ask = async (...args: string[]): Promise<string> => (await run(bin, args, { env, timeout: PATIENCE_MS, maxBuffer: 1 << 24 })).stdout;
  try {
    const [version, listed] = await Promise.all([ask("--version"), ask("provider", "list", "--json")]);
    const models = Object.entries(objectOf(parseRecord(listed)?.["models"])).map(([id, model]) => modelOf(id, objectOf(model)));
    return { ready: models.length > 0, reason: models.length > 0 ? null : LOGIN, version: version.trim().split("\n").at(-1) ?? null, models };
  } catch (error) {
    const told = error instanceof Error && "stderr" in error && typeof error.stderr === "string" && error.stderr.trim() !== "" ? error.stderr : String(error instanceof Error ? error.message : error);
    const last = withoutSecrets(told, env).trim().split("\n").slice(-3).join(" ");
    return { ready: false, reason: `Kimi Code cannot be used: ${last}`, version: null, models: [] };
  }
}

/** By the rules of `kimi acp` itself: a model can think when it says so or is named so; its levels are its own or on and off. */
function modelOf(id: string, model: JsonRecord): HarnessModel {
  const name = filledString(model["displayName"]) ?? filledString(model["model"]) ?? id;
  const capabilities = strings(model["capabilities"]);
  const levels = strings(model["supportEfforts"]);
  const always = capabilities.includes("always_thinking");
  const thinks = always || capabilities.includes("thinking") || /thinking|reason/i.test(name) || /^kimi-(?:for-coding|code)$/.test(filledString(model["model"]) ?? "");
  const efforts = !thinks ? [OFF] : [...(always ? [] : [OFF]), ...(levels.length === 0 ? ["on"] : levels)];
  const preferred = filledString(model["defaultEffort"]) ?? (levels.length === 0 ? "on" : levels[Math.floor(levels.length / 2)]!);
  return {
    id, displayName: name, description: `${name} of ${filledString(model["provider"]) ?? "Kimi Code"}`,
    efforts, defaultEffort: efforts.includes(preferred) ? preferred : efforts.at(-1)!, images: capabilities.includes("image_in"),
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
