import { z } from "zod";
import { interactionSchemas } from "@foldcast/protocol-core/interaction/schema";
import { isJsonObject } from "@foldcast/protocol-core/wire";

/** What a client asked for beyond the protocol of Codex. */
export interface Extensions {
  detail: boolean;
  interaction: boolean;
}

/**
 * Judges the part of a frame that is foldcast's own, by the schemas that `foldcast schema` prints. `rest` is what the
 * real program's schema has to judge; null = nothing.
 */
export function extensionFaults(kind: "response" | "notification" | "request" | "error", method: string, msg: unknown, asked: Extensions): { faults: string[]; rest: unknown } {
  if (!isJsonObject(msg) || kind === "error") return { faults: [], rest: msg };
  if (method.startsWith("foldcast/")) {
    const name = kind === "response" ? `${method} result` : method;
    const schema = Object.entries(interactionSchemas).find(([of]) => of === name)?.[1];
    const uncalledFor = kind === "notification" && !asked.interaction ? [`${method}: the client did not ask for it`] : [];
    if (schema === undefined) return { faults: [`${name}: no such schema`], rest: null };
    return { faults: [...uncalledFor, ...check(name, schema, kind === "response" ? msg["result"] : msg["params"])], rest: null };
  }
  const params = msg["params"];
  if (kind !== "request" || !isJsonObject(params) || params["foldcast"] === undefined) return { faults: [], rest: msg };
  const { foldcast, ...plain } = params;
  const faults = check(`${method}.foldcast`, z.strictObject({ interaction: interactionSchemas.payload }), foldcast);
  return { faults: asked.interaction ? faults : [...faults, `${method}.foldcast: the client did not ask for it`], rest: { ...msg, params: plain } };
}

function check(name: string, schema: z.ZodType, value: unknown): string[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${name}: /${path.join("/")} ${message}`);
}
