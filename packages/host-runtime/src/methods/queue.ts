import { ErrorCode, invalidRequest, WireError } from "@foldcast/protocol-core/wire";
import type { UserInput } from "@foldcast/protocol-core/wire";
import {
  ThreadQueueAddParams, ThreadQueueDeleteParams, ThreadQueueListParams, ThreadQueueReorderParams, ThreadQueueStartParams, ThreadQueueUpdateParams,
} from "@foldcast/protocol-core/wire/params";
import type { Host } from "../host.ts";
import { Reply } from "../rpc/reply.ts";
import type { QueuedInput } from "../store/store.ts";
import type { ThreadActor } from "../threads/actor.ts";
import { uuidv7 } from "../threads/uuid7.ts";
import { acceptedTurn } from "../threads/wire-thread.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";
import { parseThreadId } from "./thread-id.ts";
import { demandKept, openThread } from "./thread-lookup.ts";
import type { KnownThread } from "../threads/registry.ts";
import { prepareTurn, typedAnswer } from "./turns.ts";
import { toUserInput } from "./user-input.ts";

const DEFAULT_LIMIT = 25;

/** A thread that may have a queue. */
async function queuedThread(host: Host, threadId: string): Promise<KnownThread> {
  demandKept(host, threadId, "queued submissions");
  const id = parseThreadId(threadId);
  if ((await host.threads.find(id)) !== null) return openThread(host, threadId);
  throw new WireError(ErrorCode.internal, `failed to read thread: invalid thread-store request: no rollout found for thread id ${id}`);
}

/** The thread, loaded if it is not: its queue outlives a restart. */
async function queueOwner(host: Host, threadId: string): Promise<ThreadActor> {
  return host.threads.load(await queuedThread(host, threadId));
}

/** An input that came without an id of its client goes by the queue's. */
function toWire(queued: QueuedInput): object {
  return { id: queued.id, input: queued.input, clientUserMessageId: queued.clientId ?? queued.id, responsesapiClientMetadata: queued.metadata };
}

/** A typed answer must never wait for a model. */
function demandPrompt(input: UserInput[]): UserInput[] {
  if (input.length === 0) throw invalidRequest("only user input can be added to the user-message queue");
  if (typedAnswer({ input, clientId: null }) !== null) throw invalidRequest("an answer to an interaction cannot wait; send it with turn/steer or turn/start");
  return input;
}

/** The number of inputs before the page, as the real server counts. */
function offsetOf(cursor: string): number {
  if (!/^\d+$/.test(cursor)) throw invalidRequest("invalid queue pagination cursor: invalid digit found in string");
  return Number(cursor);
}

const BUSY = "thread already has an active or pending turn";
const notWaiting = (id: string): Error => invalidRequest(`queued submission not found: ${id}`);

export const queueMethods: readonly Method[] = [
  method("thread/queue/add", {
    owner: "thread",
    params: ThreadQueueAddParams,
    experimental: true,
    async handler({ threadId, input, clientUserMessageId, responsesapiClientMetadata }, { host, connection }) {
      const actor = await queueOwner(host, threadId);
      const queued = { id: uuidv7(host.now()), input: demandPrompt(toUserInput(input)), clientId: clientUserMessageId, metadata: responsesapiClientMetadata ?? null, byClient: true as const };
      // On an idle thread nothing would ever come that lets it start.
      if (actor.run === null) await prepareTurn(actor, { threadId, input }, queued, host, connection);
      actor.queue.add(queued);
      return new Reply({ queuedSubmission: toWire(queued) }, () => actor.startQueued()?.begin());
    },
  }),
  method("thread/queue/list", {
    owner: "thread",
    params: ThreadQueueListParams,
    experimental: true,
    async handler({ threadId, cursor, limit }, { host }) {
      const { actor, record } = await queuedThread(host, threadId);
      const entries = actor?.queue.entries ?? host.store.queue(record.id);
      const from = cursor == null ? 0 : offsetOf(cursor);
      const to = from + Math.max(limit ?? DEFAULT_LIMIT, 1);
      return { data: entries.slice(from, to).map(toWire), nextCursor: to < entries.length ? String(to) : null };
    },
  }),
  method("thread/queue/update", {
    owner: "thread",
    params: ThreadQueueUpdateParams,
    experimental: true,
    async handler({ threadId, queuedSubmissionId, input, responsesapiClientMetadata: metadata }, { host }) {
      const actor = await queueOwner(host, threadId);
      const replaces = metadata != null && Object.keys(metadata).length > 0;
      const queued = actor.queue.update(queuedSubmissionId, { input: demandPrompt(toUserInput(input)), ...(replaces ? { metadata } : {}) });
      if (queued === null) throw notWaiting(queuedSubmissionId);
      return { queuedSubmission: toWire(queued) };
    },
  }),
  method("thread/queue/delete", {
    owner: "thread",
    params: ThreadQueueDeleteParams,
    experimental: true,
    handler: async ({ threadId, queuedSubmissionId }, { host }) => ({ deleted: (await queueOwner(host, threadId)).queue.delete(queuedSubmissionId) }),
  }),
  method("thread/queue/reorder", {
    owner: "thread",
    params: ThreadQueueReorderParams,
    experimental: true,
    async handler({ threadId, queuedSubmissionIds }, { host }) {
      const { queue } = await queueOwner(host, threadId);
      const given = new Set(queuedSubmissionIds);
      const isWhole = given.size === queuedSubmissionIds.length && given.size === queue.entries.length && queue.entries.every(({ id }) => given.has(id));
      if (!isWhole) throw invalidRequest("queue reorder must include every queued submission exactly once");
      queue.reorder(queuedSubmissionIds);
      return {};
    },
  }),
  method("thread/queue/start", {
    owner: "thread",
    params: ThreadQueueStartParams,
    experimental: true,
    async handler({ threadId, queuedSubmissionId }, { host, connection }) {
      const actor = await queueOwner(host, threadId);
      const { entries } = actor.queue;
      const queued = queuedSubmissionId == null ? entries[0] : entries.find(({ id }) => id === queuedSubmissionId);
      if (queued === undefined) throw queuedSubmissionId == null ? invalidRequest("queue is empty") : notWaiting(queuedSubmissionId);
      if (actor.run !== null) throw invalidRequest(BUSY);
      await prepareTurn(actor, { threadId, input: [] }, queued, host, connection);
      const accepted = actor.startQueued(queued.id);
      if (accepted === null) throw invalidRequest(BUSY);
      return new Reply({ turn: acceptedTurn(accepted.turnId) }, accepted.begin);
    },
  }),
];
