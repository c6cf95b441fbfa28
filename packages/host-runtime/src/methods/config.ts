import { createHash } from "node:crypto";
import { join } from "node:path";
import { ConfigBatchWriteParams, ConfigReadParams, ConfigValueWriteParams } from "@foldcast/protocol-core/wire/params";
import { MODEL_PROVIDER } from "../threads/settings.ts";
import { method } from "./method.ts";
import type { Method, MethodContext } from "./method.ts";

interface Edit {
  keyPath: string;
  value?: unknown;
  mergeStrategy?: "replace" | "upsert" | null | undefined;
}

/** A model of ours becomes that connection's default for its later threads; everything else is kept for all. */
async function write(edits: readonly Edit[], { host, connection }: MethodContext): Promise<object> {
  for (const { keyPath, value, mergeStrategy } of edits) {
    if (keyPath === "model" && typeof value === "string" && (await host.catalogue.model(value)) !== undefined) host.setDefaultModel(connection, value);
    else host.config.write(keyPath, value ?? null, mergeStrategy ?? "replace");
  }
  const version = createHash("sha256").update(JSON.stringify(host.config.read({}, null))).digest("hex");
  return { status: "ok", version: `sha256:${version}`, filePath: join(host.options.dataDir, "client-config"), overriddenMetadata: null };
}

export const configMethods: readonly Method[] = [
  method("config/read", {
    owner: "host",
    params: ConfigReadParams,
    async handler({ cwd, includeLayers }, { host, connection }) {
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
  method("config/value/write", { owner: "host", params: ConfigValueWriteParams, handler: (edit, context) => write([edit], context) }),
  method("config/batchWrite", { owner: "host", params: ConfigBatchWriteParams, handler: ({ edits }, context) => write(edits, context) }),
];
