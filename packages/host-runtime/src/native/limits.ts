import { isJsonObject } from "@foldcast/protocol-core/wire";
import { membersOf } from "./json-bytes.ts";
import { withMember } from "./merge.ts";

/** What of a limit keeps a client from sending at all; how much is used stays to be seen. */
const BLOCKS = ['"ordinaryUsageAllowed":false', '"rateLimitReachedType":"', '"spendControlReached":true'].map((text) => Buffer.from(text));

/**
 * The same answer of `account/rateLimits/read`, or notification of the like, without what says that nothing may be sent:
 * that holds for the account's own models, and a client cannot tell the others apart. The frame itself where it says no
 * such thing.
 */
export function withoutBlocks(frame: Buffer): Buffer {
  if (!BLOCKS.some((block) => frame.includes(block))) return frame;
  const members = membersOf(frame);
  const member = members?.has("result") === true ? "result" : "params";
  const span = members?.get(member);
  const limits = span === undefined ? null : objectIn(frame.toString("utf8", span.start, span.end));
  if (limits === null) return frame;
  const byId = limits["rateLimitsByLimitId"];
  // The rest stays as it is written: an id may be a number that none of ours is.
  return withMember(frame, member, JSON.stringify({
    ...limits,
    ...("ordinaryUsageAllowed" in limits ? { ordinaryUsageAllowed: true } : {}),
    ...("rateLimits" in limits ? { rateLimits: openLimit(limits["rateLimits"]) } : {}),
    ...(isJsonObject(byId) ? { rateLimitsByLimitId: Object.fromEntries(Object.entries(byId).map(([id, limit]) => [id, openLimit(limit)])) } : {}),
  }));
}

function objectIn(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function openLimit(limit: unknown): unknown {
  return isJsonObject(limit) ? { ...limit, rateLimitReachedType: null, spendControlReached: null } : limit;
}
