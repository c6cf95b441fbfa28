import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { ErrorCode } from "@foldcast/protocol-core/wire";
import { closeSchema, isNode, type SchemaNode } from "./close-schema.ts";
import { CODEX_CACHE, codexProgram } from "./codex.ts";
import { withLock } from "./lock.ts";

/** What a frame is checked as: `response thread/start`, `notification item/started`, `request item/…`, `error`. */
export type FrameKind = "response" | "notification" | "request" | "error";

const SCHEMA_DIR = join(CODEX_CACHE, "schema");
const SCHEMA_FILE = join(SCHEMA_DIR, "codex_app_server_protocol.schemas.json");

/** Result types whose names do not follow from the method's or its params' name. */
const ODD_RESULT_TYPES: Readonly<Record<string, string>> = {
  "account/gatewayOAuth/read": "GatewayOAuthReadResponse",
  "account/gatewayOAuth/login": "GatewayOAuthLoginResponse",
  "account/gatewayOAuth/cancel": "GatewayOAuthCancelResponse",
  "account/logout": "LogoutAccountResponse",
  "account/rateLimits/read": "GetAccountRateLimitsResponse",
  "account/securitySetup/read": "GetAccountSecuritySetupResponse",
  "account/usage/read": "GetAccountTokenUsageResponse",
  "account/workspaceMessages/read": "GetWorkspaceMessagesResponse",
  "accountSession/list": "AccountSessionsResponse",
  "config/batchWrite": "ConfigWriteResponse",
  "config/mcpServer/reload": "McpServerRefreshResponse",
  "config/value/write": "ConfigWriteResponse",
  // Measured: it answers as a write of the configuration does.
  "modelProvider/default/set": "ConfigWriteResponse",
  "externalAgentConfig/import/readHistories": "ExternalAgentConfigImportHistoriesReadResponse",
};

const nullable = (type: string): SchemaNode => ({ type: [type, "null"] });

/** Answers that the real server gives although its schema does not list them (measured on Codex 0.171). */
const UNLISTED_RESULTS: Readonly<Record<string, SchemaNode>> = {
  getAuthStatus: {
    type: "object",
    properties: { authMethod: nullable("string"), authToken: nullable("string"), requiresOpenaiAuth: nullable("boolean") },
    required: ["authMethod", "authToken", "requiresOpenaiAuth"],
    additionalProperties: false,
  },
  // Of older releases; this one has `thread/revert` in its place.
  "thread/rollback": { type: "object", properties: { thread: { $ref: "#/definitions/v2/Thread" } }, required: ["thread"], additionalProperties: false },
};

const map: SchemaNode = { type: ["object", "null"], additionalProperties: true };

/** The namespaced member of an item, for clients that asked for it: the call in the harness's own words and what was read from it. */
const FOLDCAST_MEMBER: SchemaNode = {
  type: "object",
  minProperties: 1,
  properties: {
    callId: { type: "string" },
    rawName: nullable("string"),
    rawInput: {},
    kind: { type: "string", minLength: 1 },
    canonicalName: nullable("string"),
    canonicalArguments: map,
    state: { enum: ["running", "succeeded", "failed", "cancelled", "declined"] },
    parentId: nullable("string"),
    agentAction: nullable("string"),
    facts: map,
    steps: map,
    evidence: map,
    reason: nullable("string"),
    view: { type: "object", required: ["card"], additionalProperties: true },
    program: map,
    children: { type: "array", items: map },
    ref: {
      type: "object",
      properties: { file: { type: "string" }, line: { type: "integer", minimum: 1 }, id: { type: "string" } },
      additionalProperties: false,
    },
    truncated: { const: true },
    origin: map,
  },
  additionalProperties: false,
};

/**
 * The generated schema of the real program, closed (see `closeSchema`), with one validator per method. Members of
 * Codex that we leave out are the real program's business: it lists what is required.
 */
export class WireSchema {
  readonly #plain: Catalogue;
  readonly #extended: Catalogue;
  /** Request methods of the real program for which no result type is known; a result of theirs is a fault. */
  readonly withoutResultType: readonly string[];

  constructor(generated: SchemaNode) {
    this.#plain = new Catalogue(generated, false);
    this.#extended = new Catalogue(generated, true);
    this.withoutResultType = this.#plain.withoutResultType;
  }

  /** Generates the schema with the real program where the cache has none. */
  static async load(): Promise<WireSchema> {
    if (!existsSync(SCHEMA_FILE)) {
      await withLock(join(CODEX_CACHE, "schema-lock"), 60_000, async () => {
        if (existsSync(SCHEMA_FILE)) return;
        const fresh = `${SCHEMA_DIR}-${process.pid}`;
        await (await codexProgram()).run(["app-server", "generate-json-schema", "--experimental", "--out", fresh]);
        renameSync(fresh, SCHEMA_DIR);
      });
    }
    return new WireSchema(JSON.parse(readFileSync(SCHEMA_FILE, "utf8")) as SchemaNode);
  }

  /** The schema if an earlier run fetched it; the fast tests fetch nothing. */
  static cached(): WireSchema | null {
    return existsSync(SCHEMA_FILE) ? new WireSchema(JSON.parse(readFileSync(SCHEMA_FILE, "utf8")) as SchemaNode) : null;
  }

  /**
   * What is wrong with a frame that the server sent, as readable lines; empty = nothing. `method` is the answered
   * request's for a response. `extended` = the client asked for the `foldcast` member.
   */
  faults(kind: FrameKind, method: string, frame: unknown, extended: boolean): string[] {
    return (extended ? this.#extended : this.#plain).faults(kind, method, frame);
  }
}

class Catalogue {
  readonly #ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false, discriminator: true });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #schemas = new Map<string, SchemaNode>();
  readonly withoutResultType: string[] = [];

  constructor(generated: SchemaNode, extended: boolean) {
    // `v2` is a folder among the definitions, no schema.
    const { v2, ...v1 } = (generated as { definitions: Record<string, SchemaNode> & { v2: Record<string, SchemaNode> } }).definitions;
    const item = v2["ThreadItem"];
    if (!isNode(item?.["properties"])) throw new Error("the generated ThreadItem has another shape than expected");
    const items = extended ? { ThreadItem: { ...item, properties: { ...item["properties"], foldcast: FOLDCAST_MEMBER } } } : {};
    const definitions = { ...closeAll(v1), v2: closeAll({ ...v2, ...items }) };
    this.#ajv.addSchema({ $id: "codex", definitions });
    this.#listRequests(v1, v2);
    for (const branch of branches(v1["ServerNotification"])) {
      this.#schemas.set(`notification ${branch.method}`, frameOf({ method: { const: branch.method }, params: branch.params ?? {}, emittedAtMs: { type: "integer" } }, ["method", "params"]));
    }
    for (const branch of branches(v1["ServerRequest"])) {
      this.#schemas.set(`request ${branch.method}`, frameOf({ id: {}, method: { const: branch.method }, params: branch.params ?? {} }, ["id", "method", "params"]));
    }
    const body = frameOf({ code: { enum: Object.values(ErrorCode) }, message: { type: "string", minLength: 1 }, data: {} }, ["code", "message"]);
    this.#schemas.set("error", frameOf({ id: {}, error: body }, ["id", "error"]));
  }

  faults(kind: FrameKind, method: string, frame: unknown): string[] {
    const key = kind === "error" ? "error" : `${kind} ${method}`;
    let validate = this.#validators.get(key);
    if (validate === undefined) {
      const schema = this.#schemas.get(key);
      if (schema === undefined) return [`${key}: no such method in the schema`];
      validate = this.#ajv.compile(rebased(schema) as SchemaNode);
      this.#validators.set(key, validate);
    }
    return validate(frame) ? [] : (validate.errors ?? []).map((error) => `${key}: ${describe(error)}`);
  }

  #listRequests(v1: Record<string, SchemaNode>, v2: Record<string, SchemaNode>): void {
    const result = (schema: SchemaNode): SchemaNode => frameOf({ id: {}, result: schema }, ["id", "result"]);
    for (const { method, params } of branches(v1["ClientRequest"])) {
      const byParams = typeof params?.["$ref"] === "string" ? /(\w+)Params$/.exec(params["$ref"])?.[1] : undefined;
      const byMethod = method.replace(/(?:^|\/)(\w)/g, (_, letter: string) => letter.toUpperCase());
      const names = [ODD_RESULT_TYPES[method], byParams && `${byParams}Response`, `${byMethod}Response`];
      const name = names.find((candidate) => candidate !== undefined && (candidate in v1 || candidate in v2));
      if (name === undefined) this.withoutResultType.push(method);
      else this.#schemas.set(`response ${method}`, result({ $ref: `#/definitions/${name in v2 ? "v2/" : ""}${name}` }));
    }
    for (const [method, schema] of Object.entries(UNLISTED_RESULTS)) this.#schemas.set(`response ${method}`, result(schema));
  }
}

function closeAll(schemas: Record<string, SchemaNode>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schemas).map(([name, node]) => [name, closeSchema(node)]));
}

function frameOf(properties: Record<string, SchemaNode>, required: string[]): SchemaNode {
  return { type: "object", properties, required, additionalProperties: false };
}

function branches(union: SchemaNode | undefined): { method: string; params: SchemaNode | undefined }[] {
  const list = union?.["oneOf"];
  if (!Array.isArray(list)) throw new Error("the generated schema has no union where one was expected");
  return list.map((branch: { properties: { method: { enum: string[] }; params?: SchemaNode } }) => {
    const method = branch.properties.method.enum[0];
    if (method === undefined) throw new Error("a branch of the generated schema names no method");
    return { method, params: branch.properties.params };
  });
}

/** The same schema with its references pointing into the generated document. */
function rebased(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rebased);
  if (!isNode(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === "$ref" && typeof value === "string" ? `codex${value}` : rebased(value)]),
  );
}

function describe(error: ErrorObject): string {
  const params = error.params as { unevaluatedProperty?: string; additionalProperty?: string; allowedValues?: unknown };
  const member = params.unevaluatedProperty ?? params.additionalProperty;
  const allowed = params.allowedValues === undefined ? "" : ` ${JSON.stringify(params.allowedValues)}`;
  return `${error.instancePath || "/"} ${error.message ?? error.keyword}${member === undefined ? "" : ` (${member})`}${allowed}`;
}
