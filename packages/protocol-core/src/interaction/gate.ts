import type { Sender } from "./model.ts";

/**
 * Whether this person may answer: the one who started the turn, in the chat where it was started, or one of the
 * channel's approvers. The sender decides, never the chat alone; a turn of a chat cannot be answered from another chat.
 * What is missing is refused.
 */
export function mayAnswer(who: Sender, startedBy: Sender | null, approvers: readonly string[]): boolean {
  if (who.channel === "" || who.chatId === "" || who.senderId === "") return false;
  const sameChannel = startedBy?.channel === who.channel;
  if (sameChannel && startedBy.chatId !== who.chatId) return false;
  return approvers.includes(who.senderId) || (sameChannel && startedBy.senderId === who.senderId);
}
