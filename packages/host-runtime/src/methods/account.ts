import { invalidRequest } from "@foldcast/protocol-core/wire";
import { AccountReadParams, AuthStatusParams, RateLimitsParams } from "@foldcast/protocol-core/wire/params";
import { membersOf } from "../native/json-bytes.ts";
import { withMember } from "../native/merge.ts";
import { RawJson } from "../rpc/raw-json.ts";
import { askNative, nativeOf } from "./behind.ts";
import { method } from "./method.ts";
import type { Method, MethodContext } from "./method.ts";

/**
 * What the real server says of its account. Where nobody is logged in there, clients must not insist on it: there is
 * something to talk to without. A login stays as it is told. Null where it cannot be had.
 */
async function loginOf(context: MethodContext, request: string, params: object, login: "account" | "authMethod"): Promise<RawJson | null> {
  const native = nativeOf(context);
  const result = native === null ? null : await askNative(native, request, params);
  if (result === null) return null;
  const members = membersOf(result);
  const text = (name: string): string => {
    const span = members?.get(name);
    return span === undefined ? "null" : result.toString("utf8", span.start, span.end);
  };
  const isMissing = text(login) === "null" && text("requiresOpenaiAuth") === "true";
  context.host.native!.lacksLogin = isMissing;
  return new RawJson(isMissing ? withMember(result, "requiresOpenaiAuth", "false") : result);
}

export const accountMethods: readonly Method[] = [
  method("account/read", {
    owner: "host",
    params: AccountReadParams,
    handler: async (params, context) =>
      (await loginOf(context, "account/read", params, "account")) ?? { account: null, userId: null, requiresOpenaiAuth: false, workspaceRouting: null },
  }),
  method("getAuthStatus", {
    owner: "host",
    params: AuthStatusParams,
    handler: async (params, context) =>
      (await loginOf(context, "getAuthStatus", params, "authMethod")) ?? { authMethod: null, authToken: null, requiresOpenaiAuth: false },
  }),
  // With a real server behind us it is never asked here.
  method("account/rateLimits/read", {
    owner: "static",
    params: RateLimitsParams.nullable(),
    handler() {
      throw invalidRequest("codex account authentication required to read rate limits");
    },
  }),
];
