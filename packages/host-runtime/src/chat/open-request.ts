import type { AgentRequest, InteractionAnswer } from "@foldcast/protocol-core/harness";
import { changesOf, fromServerRequest, payloadOf, readTyped, toServerReply } from "@foldcast/protocol-core/interaction";
import type { FormAnswers, InteractionPayload, Locale, TypedAnswer } from "@foldcast/protocol-core/interaction";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { RequestId, ServerRequestMethod, ServerRequestReply, ThreadItem } from "@foldcast/protocol-core/wire";

const DECISIONS: Readonly<Record<string, "accept" | "decline" | "acceptForSession">> = { approve: "accept", deny: "decline", always: "acceptForSession" };

/** A request of the server that waits for this client's answer. */
export class OpenRequest {
  readonly id: RequestId;
  readonly method: ServerRequestMethod;
  readonly threadId: string;
  readonly item: ThreadItem | null;
  readonly request: AgentRequest;
  readonly payload: InteractionPayload;
  readonly #params: unknown;
  #answers: FormAnswers = {};

  private constructor(id: RequestId, method: ServerRequestMethod, params: Readonly<Record<string, unknown>>, item: ThreadItem | null, request: AgentRequest, payload: InteractionPayload) {
    this.id = id;
    this.method = method;
    this.threadId = typeof params["threadId"] === "string" ? params["threadId"] : "";
    this.item = item;
    this.request = request;
    this.payload = payload;
    this.#params = params;
  }

  /** Null for a request of a kind that a chat cannot show. */
  static of(id: RequestId, method: string, params: unknown, item: ThreadItem | null, locale: Locale): OpenRequest | null {
    if (!isJsonObject(params)) return null;
    const read = fromServerRequest(method, params, item);
    if (read === null) return null;
    const request = asOffered(read, offersOf(params["foldcast"]));
    const payload = payloadOf(request, { interactionId: String(id), expiresAt: null, locale, changes: changesOf(request, item) });
    return new OpenRequest(id, method as ServerRequestMethod, params, item, request, payload);
  }

  /** What the typed text does. An answer to one of several questions is kept until the last one is answered. */
  read(typed: string): TypedAnswer {
    const read = readTyped(this.request, typed, this.#answers);
    if (read.kind === "partial") this.#answers = read.answers;
    return read;
  }

  /** The yes to a request that is a yes or a no. */
  yes(): InteractionAnswer {
    return this.request.kind === "elicitation" ? { kind: "elicitation", action: "accept", ...(this.request.mode === "form" ? { content: {} } : {}) } : { kind: "approval", decision: "accept" };
  }

  reply(answer: InteractionAnswer): ServerRequestReply {
    return toServerReply(this.method, this.#params, answer);
  }
}

/** What really is on offer, where the server says so: an approval may have come as a question. */
function asOffered(read: AgentRequest, offers: readonly ("accept" | "decline" | "acceptForSession")[] | null): AgentRequest {
  if (offers === null || read.kind === "elicitation") return read;
  if (read.kind === "approval") return { ...read, offers };
  return { id: read.id, kind: "approval", about: "tool", reason: read.questions[0]?.question ?? null, offers };
}

/** What a foldcast server says of an approval beside Codex's own members: what really is on offer. */
function offersOf(extra: unknown): ("accept" | "decline" | "acceptForSession")[] | null {
  const interaction = isJsonObject(extra) ? extra["interaction"] : undefined;
  if (!isJsonObject(interaction) || interaction["kind"] !== "approval" || !Array.isArray(interaction["actions"])) return null;
  return interaction["actions"].flatMap((action) => {
    const decision = isJsonObject(action) && typeof action["value"] === "string" ? DECISIONS[action["value"]] : undefined;
    return decision === undefined ? [] : [decision];
  });
}
