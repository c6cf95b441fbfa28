import { isJsonObject } from "@foldcast/protocol-core/wire";

/** What of a limit keeps a client from sending at all; how much is used stays to be seen. */
const BLOCKS = ['"ordinaryUsageAllowed":false', '"rateLimitReachedType":"', '"spendControlReached":true'].map((text) => Buffer.from(text));

/**
 * The same answer of `account/rateLimits/read`, or notification of the like, without what says that nothing may be sent:
 * that holds for the account's own models, and a client cannot tell the others apart. The frame itself where it says no
 * such thing.
 */
export function withoutBlocks(frame: Buffer): Buffer {
  if (!BLOCKS.some((block) => frame.includes(block))) return frame;
  const value: unknown = JSON.parse(frame.toString("utf8"));
  if (!isJsonObject(value)) return frame;
  const member = "result" in value ? "result" : "params";
  const limits = value[member];
  if (!isJsonObject(limits)) return frame;
  const byId = limits["rateLimitsByLimitId"];
  return Buffer.from(JSON.stringify({
    ...value,
    [member]: {
      ...limits,
      ...("ordinaryUsageAllowed" in limits ? { ordinaryUsageAllowed: true } : {}),
      ...("rateLimits" in limits ? { rateLimits: openLimit(limits["rateLimits"]) } : {}),
      ...(isJsonObject(byId) ? { rateLimitsByLimitId: Object.fromEntries(Object.entries(byId).map(([id, limit]) => [id, openLimit(limit)])) } : {}),
    },
  }));
}

function openLimit(limit: unknown): unknown {
  return isJsonObject(limit) ? { ...limit, rateLimitReachedType: null, spendControlReached: null } : limit;
}
