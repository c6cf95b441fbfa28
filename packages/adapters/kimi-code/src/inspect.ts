import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { withoutSecrets, filledString, type JsonRecord, objectOf, parseRecord } from "@foldcast/adapter-kit";
import type { HarnessInspection, HarnessModel } from "@foldcast/protocol-core/harness";
import { MODES } from "./live/dialect.ts";

const run = promisify(execFile);
const PATIENCE_MS = 60_000;
const LOGIN = "Kimi Code has no model to use: run `kimi login`, or add a provider with `kimi provider`.";
const OFF = "off";
/** 22.19, of Kimi Code 2.1.0. */
const OLDEST_NODE = 22.19;
/** Lines around an error that say where it was. */
const STACK = /^(?:at |Node\.js v|file:\/\/|node:|\^+$)/;

/**
 * What the program says of itself and its configuration (`kimi --version`, `kimi provider list --json` of 2.1.0): no
 * session is made and no model is asked. `config`: where its configuration is. Never rejects.
 */
export async function inspectProgram(bin: string, env: NodeJS.ProcessEnv, config: string): Promise<HarnessInspection> {
  const ask = async (...args: string[]): Promise<string> => (await run(bin, args, { env, timeout: PATIENCE_MS, maxBuffer: 1 << 24 })).stdout;
  try {
    // Asked for its models it writes a first configuration, which is not for a look to do.
    const hasModels = existsSync(config) || filledString(env["KIMI_MODEL_NAME"]) !== null;
    const asked = [ask("--version"), hasModels ? ask("provider", "list", "--json") : Promise.resolve("{}")] as const;
    // Where one question fails the other is not left running behind the answer.
    await Promise.allSettled(asked);
    const [version, listed] = await Promise.all(asked);
    const models = Object.entries(objectOf(parseRecord(listed)?.["models"])).map(([id, model]) => modelOf(id, objectOf(model)));
    return { ready: models.length > 0, reason: models.length > 0 ? null : LOGIN, version: version.trim().split("\n").at(-1) ?? null, models, permissionModes: MODES };
  } catch (error) {
    return { ready: false, reason: `Kimi Code cannot be used: ${withoutSecrets(faultOf(error), env)}`, version: null, models: [] };
  }
}

/** One line for a person, out of what Node prints when a program of it ends. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("killed" in error && error.killed === true) return `it gave no answer within ${PATIENCE_MS / 1000} seconds.`;
  const lines = ("stderr" in error && typeof error.stderr === "string" ? error.stderr : "").split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const node = lines.map((line) => /^Node\.js v(\d+)\.(\d+)\S*/.exec(line)).find((found) => found !== null);
  const version = node == null ? null : Number(node[1]) + Number(node[2]) / 100;
  if (version !== null && version < OLDEST_NODE) return `it needs Node.js 22.19 or newer, and was started with ${node![0].slice("Node.js ".length)}.`;
  const words = lines.filter((line) => !STACK.test(line));
  return words.find((line) => /^(?:\w*Error|error)\b.*: /.test(line)) ?? words.at(-1) ?? error.message.split("\n")[0]!;
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
