import { createHash } from "node:crypto";
import { join } from "node:path";
import { ErrorCode, isJsonObject, WireError } from "@foldcast/protocol-core/wire";
import { ConfigBatchWriteParams, ConfigReadParams, ConfigValueWriteParams } from "@foldcast/protocol-core/wire/params";
import type { Host } from "../host.ts";
import { membersOf } from "../native/json-bytes.ts";
import { withMember } from "../native/merge.ts";
import type { NativeSession } from "../native/session.ts";
import { RawJson } from "../rpc/raw-json.ts";
import { MODEL_PROVIDER } from "../threads/settings.ts";
import { askNative, nativeOf } from "./behind.ts";
import { method } from "./method.ts";
import type { Method, MethodContext } from "./method.ts";

interface Edit {
  keyPath: string;
  value?: unknown;
  mergeStrategy?: "replace" | "upsert" | null | undefined;
}

/** Settings that a client writes together with a model, or for it. */
const OF_A_MODEL: ReadonlySet<string> = new Set(["model_reasoning_effort", "plan_mode_reasoning_effort", "model_verbosity", "model_reasoning_summary", "service_tier"]);

/** Whether one of our models is named anywhere in the value: none of them may get into the user's own configuration. */
async function namesOurModel(value: unknown, host: Host): Promise<boolean> {
  if (typeof value === "string") return value.includes("/") && (await host.catalogue.model(value)) !== undefined;
  if (typeof value !== "object" || value === null) return false;
  for (const inner of Object.values(value)) if (await namesOurModel(inner, host)) return true;
  return false;
}

function demandKeyPath(edits: readonly Edit[]): void {
  if (edits.some(({ keyPath }) => keyPath === "")) throw new WireError(ErrorCode.invalidRequest, "keyPath must not be empty", { config_write_error_code: "configValidationError" });
}

/** Takes over what names a model of ours, as the connection's default; gives the edits that are somebody else's. */
async function keepOurs(edits: readonly Edit[], { host, connection }: MethodContext): Promise<Edit[]> {
  const ours = new Set<Edit>();
  for (const edit of edits) {
    if (await namesOurModel(edit.value, host)) {
      ours.add(edit);
      if (edit.keyPath === "model" && typeof edit.value === "string") host.setDefaultModel(connection, edit.value);
    } else if (edit.keyPath === "model") host.setDefaultModel(connection, null);
  }
  return edits.filter((edit) => !ours.has(edit));
}

/** A model of ours becomes that connection's default for its later threads; everything else is kept for all. */
async function write(edits: readonly Edit[], { host, connection }: MethodContext): Promise<object> {
  demandKeyPath(edits);
  for (const { keyPath, value, mergeStrategy } of edits) {
    if (keyPath === "model" && typeof value === "string" && (await host.catalogue.model(value)) !== undefined) host.setDefaultModel(connection, value);
    else host.config.write(keyPath, value ?? null, mergeStrategy ?? "replace");
  }
  const version = createHash("sha256").update(JSON.stringify(host.config.read({}, null))).digest("hex");
  return { status: "ok", version: `sha256:${version}`, filePath: join(host.options.dataDir, "client-config"), overriddenMetadata: null };
}

/**
 * The same with the real server behind us: what belongs to a model of ours stays with this connection, the rest goes on,
 * and the answer is the real server's where anything did.
 */
async function writeBehind(native: NativeSession, request: "config/value/write" | "config/batchWrite", params: object, edits: readonly Edit[], context: MethodContext): Promise<object> {
  const { host, connection } = context;
  const { kept } = host.native!.gateOf(connection)!;
  const takeBackModel = host.rememberDefaultModel(connection);
  const before = new Map(kept);
  const rest = await keepOurs(edits, context);
  const chosen = host.chosenModel(connection);
  const isOurs = rest.length < edits.length || chosen !== null;
  const foreign = rest.filter(({ keyPath }) => !(isOurs && OF_A_MODEL.has(keyPath)));
  for (const { keyPath, value } of rest) {
    if (foreign.every((edit) => edit.keyPath !== keyPath)) kept.set(keyPath, value ?? null);
    else kept.delete(keyPath);
  }
  if (foreign.length > 0) {
    const after = new Map(kept);
    // Our half counts at once, for what the client asks next; a batch that is refused has changed nothing.
    const asked = foreign.length === edits.length ? native.ask(request, params) : native.ask("config/batchWrite", { ...params, edits: foreign });
    return new RawJson(await asked.catch((error: unknown) => {
      // What was written since then stays.
      if (host.chosenModel(connection) === chosen) takeBackModel();
      for (const { keyPath } of rest) {
        if (kept.get(keyPath) !== after.get(keyPath)) continue;
        if (before.has(keyPath)) kept.set(keyPath, before.get(keyPath));
        else kept.delete(keyPath);
      }
      throw error;
    }));
  }
  const file = await userFile(native);
  return { status: "ok", version: file?.version ?? "foldcast", filePath: file?.path ?? join(host.codexHome, "config.toml"), overriddenMetadata: null };
}

/** The user's own file and its version, which a client may name in its next edit. */
async function userFile(native: NativeSession): Promise<{ path: string; version: string } | null> {
  const result = await askNative(native, "config/read", { includeLayers: true });
  const value: unknown = result === null ? null : JSON.parse(result.toString("utf8"));
  const layers: unknown = isJsonObject(value) ? value["layers"] : null;
  for (const layer of Array.isArray(layers) ? (layers as unknown[]) : []) {
    if (!isJsonObject(layer) || !isJsonObject(layer["name"]) || layer["name"]["type"] !== "user") continue;
    const { file } = layer["name"];
    if (typeof file === "string" && typeof layer["version"] === "string") return { path: file, version: layer["version"] };
  }
  return null;
}

/** The real server's configuration, with the model that this client has chosen of ours in the place of its own. */
async function readBehind(result: Buffer, { host, connection }: MethodContext): Promise<RawJson> {
  const model = await host.foreignDefault(connection);
  const config = membersOf(result)?.get("config");
  if (model === null || config === undefined) return new RawJson(result);
  let changed: Buffer = withMember(result.subarray(config.start, config.end), "model", JSON.stringify(model));
  for (const [key, value] of host.native!.gateOf(connection)!.kept) changed = withMember(changed, key, JSON.stringify(value));
  return new RawJson(withMember(result, "config", changed));
}

export const configMethods: readonly Method[] = [
  method("config/read", {
    owner: "host",
    params: ConfigReadParams,
    async handler(params, context) {
      const { cwd, includeLayers } = params;
      const { host, connection } = context;
      const native = nativeOf(context);
      const behind = native === null ? null : await askNative(native, "config/read", params);
      if (behind !== null) return readBehind(behind, context);
      const base = {
        model: await host.defaultModel(connection),
        model_provider: MODEL_PROVIDER,
        approval_policy: "on-request",
        sandbox_mode: "workspace-write",
        model_reasoning_summary: "auto",
      };
      return { config: host.config.read(base, cwd ?? null), origins: {}, layers: includeLayers === true ? [] : null };
    },
  }),
  method("config/value/write", {
    owner: "host",
    params: ConfigValueWriteParams,
    handler(edit, context) {
      const native = nativeOf(context);
      return native === null ? write([edit], context) : writeBehind(native, "config/value/write", edit, [edit], context);
    },
  }),
  method("config/batchWrite", {
    owner: "host",
    params: ConfigBatchWriteParams,
    handler(params, context) {
      const native = nativeOf(context);
      return native === null ? write(params.edits, context) : writeBehind(native, "config/batchWrite", params, params.edits, context);
    },
  }),
];
