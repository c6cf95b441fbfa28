import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { Connection } from "../rpc/connection.ts";
import type { Host } from "../host.ts";
import { drainingRefusal } from "./draining.ts";
import { describeIssues, unknownVariant } from "./invalid-params.ts";
import type { Method } from "./method.ts";
import { METHODS } from "./table.ts";

const BY_NAME: ReadonlyMap<string, Method> = new Map(METHODS.map((each) => [each.name, each]));

/**
 * Serves one request. The order of the checks is the real server's: method and parameters first (so that even an
 * uninitialized client learns of an unknown method), then `initialize`, then what is experimental.
 */
export function dispatch(host: Host, connection: Connection, name: string, params: unknown): unknown {
  const method = BY_NAME.get(name);
  if (method === undefined) throw invalidRequest(`Invalid request: ${unknownVariant(name, [...BY_NAME.keys()])}`);
  const parsed = parseParams(method, params);
  if (connection.session === null) {
    if (name !== "initialize") throw invalidRequest("Not initialized");
  } else if (!connection.session.experimental) requireStable(method, parsed);
  const refusal = host.draining ? drainingRefusal(name) : null;
  if (refusal !== null) throw refusal;
  return method.handler(parsed, { host, connection });
}

/** Whether these parameters, as JSON, are what our method of that name takes. Another server may know more than we do. */
export function understands(name: string, params: string | null): boolean {
  const method = BY_NAME.get(name);
  if (method === undefined) return false;
  try {
    return method.params === null || method.params.safeParse(params === null ? null : JSON.parse(params)).success;
  } catch {
    return false;
  }
}

function parseParams(method: Method, params: unknown): unknown {
  const given = params ?? null;
  if (method.params === null) {
    if (given === null || (typeof given === "object" && !Array.isArray(given))) return null;
    throw invalidRequest(`Invalid request: ${describeIssues([{ code: "invalid_type", expected: "null", path: [], message: "unit", input: given }], given)}`);
  }
  const result = method.params.safeParse(given);
  if (!result.success && given === null) throw invalidRequest("Invalid request: missing field `params`");
  if (!result.success) throw invalidRequest(`Invalid request: ${describeIssues(result.error.issues, given)}`);
  return result.data;
}

/** Null, and false for a flag, do not count as use of an experimental member. */
function requireStable(method: Method, params: unknown): void {
  if (method.experimental) throw invalidRequest(`${method.name} requires experimentalApi capability`);
  if (params === null) return;
  const members = params as Readonly<Record<string, unknown>>;
  const used = method.experimentalFields.find((field) => members[field] != null && members[field] !== false);
  if (used !== undefined) throw invalidRequest(`${method.name}.${used} requires experimentalApi capability`);
}
