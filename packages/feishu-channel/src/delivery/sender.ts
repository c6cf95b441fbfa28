import type { FeishuPort, MessageBody, Outcome, Refusal, SentMessage } from "../platform/port.ts";
import type { WriterClock } from "../card/writer.ts";

export interface SendTimes {
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** Feishu knows a uuid for one hour; a message first tried longer ago is looked up before it is sent again. */
  readonly uuidMs: number;
}
export const SEND_TIMES: SendTimes = { backoffMs: 500, maxBackoffMs: 20_000, uuidMs: 55 * 60_000 };

export interface Place {
  readonly chatId: string;
  readonly replyTo: string | null;
  readonly inThread: boolean;
}

export type SendResult = { readonly kind: "sent"; readonly messageId: string } | { readonly kind: "refused"; readonly refusal: Refusal } | { readonly kind: "uncertain" };

const MAX_TRIES = 10;
const LOOKUP_PAGES = 5;

/**
 * Sends one message exactly once, across lost answers and restarts: the same uuid within its hour, a look at the chat
 * for the mark, or one of several, after it. `triedAt` is when this message was first tried; `note` keeps it before the first try.
 */
export async function sendOnce(
  { port, clock, times, log, isClosed }: { readonly port: FeishuPort; readonly clock: WriterClock; readonly times: SendTimes; readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void; readonly isClosed: () => boolean },
  message: { readonly place: Place; readonly body: MessageBody; readonly uuid: string; readonly mark: string | readonly string[]; readonly triedAt: number | null; readonly note: (triedAt: number) => void },
): Promise<SendResult> {
  let { place } = message;
  let triedAt = message.triedAt;
  for (let tries = 0; tries < MAX_TRIES && !isClosed(); tries += 1) {
    if (triedAt !== null && clock.now() - triedAt > times.uuidMs) {
      const found = await lookUp(port, place, [message.mark].flat(), triedAt);
      if (found === null) {
        await clock.sleep(backoff(times, tries));
        continue;
      }
      if (found.messageId !== null) return { kind: "sent", messageId: found.messageId };
      triedAt = null;
    }
    if (triedAt === null) message.note((triedAt = clock.now()));
    const outcome = await send(port, place, message.body, message.uuid);
    if (outcome.kind === "ok") return { kind: "sent", messageId: outcome.value.messageId };
    if (outcome.kind === "uncertain") {
      log("a message was not confirmed", { reason: outcome.uncertainty.reason, detail: outcome.uncertainty.detail });
      await clock.sleep(backoff(times, tries));
      continue;
    }
    const { refusal } = outcome;
    log("a message was refused", { kind: refusal.kind, code: refusal.code, subCode: refusal.subCode });
    if (refusal.kind === "noThread" && place.inThread) place = { ...place, inThread: false };
    // The message that is answered was taken back: the chat itself is still there.
    else if (refusal.kind === "gone" && place.replyTo !== null) place = { ...place, replyTo: null, inThread: false };
    else if (refusal.retryable || refusal.kind === "unreachable") await clock.sleep(Math.max(refusal.retryAfterMs ?? 0, backoff(times, tries)));
    else return { kind: "refused", refusal };
  }
  return { kind: "uncertain" };
}

function send(port: FeishuPort, { chatId, replyTo, inThread }: Place, body: MessageBody, uuid: string): Promise<Outcome<SentMessage>> {
  const options = { priority: "final" as const, chatId };
  if (replyTo === null) return port.sendMessage({ to: { chatId }, body, uuid }, options);
  return port.replyMessage({ messageId: replyTo, body, inThread, uuid }, options);
}

/** The app's own message with one of these marks, sent since then, if there is one; null when the chat cannot be read. */
async function lookUp(port: FeishuPort, place: Place, marks: readonly string[], sinceMs: number): Promise<{ readonly messageId: string | null } | null> {
  const topic = await topicOf(port, place);
  if (topic === null) return null;
  // A chat's own list leaves out what stands in its topics; a topic's list takes no times.
  const where = topic.threadId === null ? { in: { chatId: place.chatId }, fromMs: sinceMs - 60_000 } : { in: { threadId: topic.threadId } };
  let pageToken: string | null = null;
  for (let page = 0; page < LOOKUP_PAGES; page += 1) {
    const outcome: Awaited<ReturnType<FeishuPort["listMessages"]>> = await port.listMessages({ ...where, order: "newestFirst", ...(pageToken === null ? {} : { pageToken }) });
    if (outcome.kind !== "ok") return null;
    const found = outcome.value.messages.find((message) => message.senderKind === "app" && !message.deleted && marks.some((mark) => message.content.includes(mark)));
    if (found !== undefined) return { messageId: found.messageId };
    pageToken = outcome.value.nextPageToken;
    if (pageToken === null) break;
  }
  return { messageId: null };
}

/** The topic that a reply stands in, which its first reply may have made; null when nobody can say. */
async function topicOf(port: FeishuPort, { replyTo, inThread }: Place): Promise<{ readonly threadId: string | null } | null> {
  if (!inThread || replyTo === null) return { threadId: null };
  const outcome = await port.getMessage(replyTo);
  if (outcome.kind === "ok") return { threadId: outcome.value.threadId };
  return outcome.kind === "refused" && !outcome.refusal.retryable ? { threadId: null } : null;
}

function backoff({ backoffMs, maxBackoffMs }: SendTimes, tries: number): number {
  return Math.min(backoffMs * 2 ** Math.min(tries, 10), maxBackoffMs);
}
