import { createHash } from "node:crypto";
import { maskMail } from "../card/index.ts";
import { plainText } from "../card/markdown/inline.ts";
import type { WriterClock } from "../card/writer.ts";
import { sendOnce, SEND_TIMES } from "../delivery/sender.ts";
import type { FeishuPort } from "../platform/port.ts";

/** The message that is answered, and where it stands; `threadId`: of its topic. */
export interface SaidTo {
  readonly messageId: string;
  readonly chatId: string;
  readonly threadId: string | null;
}

interface SayingDeps {
  readonly port: FeishuPort;
  readonly clock: WriterClock;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly isClosed: () => boolean;
}

/** Answers with a text of the channel's own. `cause`: the message or press that is answered; each answer to it is sent once. */
export async function say({ messageId, chatId, threadId }: SaidTo, text: string, deps: SayingDeps, cause = messageId): Promise<void> {
  const send = (shown: string): ReturnType<typeof sendOnce> => sendOnce({ ...deps, times: SEND_TIMES }, {
    place: { chatId, replyTo: messageId, inThread: threadId !== null }, body: { type: "text", text: plainText(shown) },
    uuid: sayingId(cause, shown), mark: JSON.stringify(shown).slice(1, -1), triedAt: null, note: () => undefined,
  });
  const result = await send(text);
  if (result.kind === "refused" && result.refusal.kind === "audit") await send(maskMail(text));
}

/** Names of people may be closed to the app, and those of a chat's members open. */
export async function nameOf(openId: string, chatId: string, port: FeishuPort): Promise<string> {
  const outcome = await port.userInfo(openId);
  if (outcome.kind === "ok" && outcome.value.name !== null) return outcome.value.name;
  const members = await port.chatMembers(chatId);
  return (members.kind === "ok" ? members.value.find((member) => member.openId === openId)?.name : null) ?? openId.slice(0, 8);
}

/** One message may be answered with several: each has a uuid of its own, the same one at each try. At most 50 characters. */
function sayingId(messageId: string, text: string): string {
  return `${`s${messageId}`.slice(0, 40)}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
}
