import type { InteractionAnswerResult, InteractionEvent, Sender } from "@foldcast/protocol-core/interaction";
import { invalidRequest } from "@foldcast/protocol-core/wire";
import { InteractionAnswerParams, InteractionOfferParams } from "@foldcast/protocol-core/wire/params";
import type { Answerer } from "../interactions/pending.ts";
import { shapeOf } from "../log/shape.ts";
import type { Connection } from "../rpc/connection.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";
import { loadedThread } from "./thread-lookup.ts";

/** Who speaks through this connection. Throws where a channel speaks for people of another one. */
export function answererOf({ session }: Connection, sender: Sender | null): Answerer {
  const channel = session?.channel ?? null;
  if (sender !== null && channel !== null && sender.channel !== channel.name) throw invalidRequest(`this connection is of the channel \`${channel.name}\``);
  return { client: session?.name ?? "", channel, sender };
}

function senderOf({ channel, chatId, senderId }: { channel?: string | null | undefined; chatId?: string | null | undefined; senderId?: string | null | undefined }): Sender | null {
  if (channel == null && chatId == null && senderId == null) return null;
  return { channel: channel ?? "", chatId: chatId ?? "", senderId: senderId ?? "" };
}

export const interactionMethods: readonly Method[] = [
  method("foldcast/interaction/answer", {
    owner: "host",
    params: InteractionAnswerParams,
    handler(params, { host, connection }): InteractionAnswerResult {
      const sender = senderOf(params);
      const event: InteractionEvent = {
        channel: sender?.channel ?? "", chatId: sender?.chatId ?? "", senderId: sender?.senderId ?? "", interactionId: params.interactionId,
        actionId: params.actionId ?? "", actionValue: params.actionValue, timestamp: params.timestamp ?? host.now(), metadata: params.metadata ?? {},
      };
      const result = host.interactions.event(event, answererOf(connection, sender));
      // Never the values: a callback carries tokens and ids of people and chats.
      if (result.status !== "accepted") host.options.log.info("an answer changed nothing", { status: result.status, shape: shapeOf(params) });
      return result;
    },
  }),
  method("foldcast/interaction/offer", {
    owner: "thread",
    params: InteractionOfferParams,
    handler({ threadId, kind, title, body, actions, expiresInMs }, { host }) {
      const actor = loadedThread(host, threadId);
      // What is put up now would outlive the thread: its end has settled all that was open.
      if (actor.closed) throw invalidRequest("the thread is closing");
      if (kind === "quickReply" && !actor.materialized) throw invalidRequest("a quick reply needs a thread that has had a turn");
      const interaction = host.interactions.offer({
        kind, title: title ?? null, body, expiresInMs: expiresInMs ?? null,
        actions: actions.map(({ id, label, value, style }, at) => ({ id: id ?? `action-${at + 1}`, label, value, style: style ?? "default" })),
      }, actor.interactionHome());
      return { interaction };
    },
  }),
];
