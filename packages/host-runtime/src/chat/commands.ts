import type { TurnView } from "@foldcast/protocol-core/view";
import { nearest } from "../nearest.ts";
import type { Chat } from "./chat.ts";
import type { Conversation } from "./conversation.ts";

const HELP = `/models            the models on offer        /model ID    choose one for the next turn on, by its number or id
/threads           recent threads             /thread ID   go on with one, by its number or id
/new               a new thread               /expand [N]  all of the last turn, or of the last but N
/steer TEXT        tells the agent meanwhile  /stop        interrupt the turn, as Ctrl+C does
/quit              leave                      Ctrl+C       interrupt the turn; twice: leave
//text             sends /text to the agent`;
const NAMES = ["/help", "/models", "/model", "/threads", "/thread", "/new", "/expand", "/steer", "/stop", "/quit", "/exit"];
/** A path is none, and neither is the typed form of an answer. */
const COMMAND_WORD = /^\/[a-z][a-z0-9-]*$/i;

/** Whether the chat takes the line for a command, known or not. */
export function looksLikeCommand(line: string): boolean {
  return COMMAND_WORD.test(line.trim().split(/\s/, 1)[0] ?? "");
}

export interface CommandContext {
  conversation: Conversation;
  cwd: string;
  model: string | null;
  notice: (text: string) => void;
  expand(turn: TurnView): void;
}

/**
 * The chat's own commands. Rejects for a word that looks like one and is none: as a prompt it would cost a turn. A
 * harness may have commands of its own; two slashes send one to it.
 */
export function chatCommands(context: CommandContext): (line: string, chat: Chat) => Promise<boolean> {
  const { conversation, notice } = context;
  let listed: string[] = [];
  const modelNamed = async (argument: string): Promise<string | null> => {
    const models = await conversation.models();
    return (models.find(({ id }) => id === argument) ?? (/^\d+$/.test(argument) ? models[Number(argument) - 1] : undefined))?.id ?? null;
  };
  return async (line, chat) => {
    const [name = "", argument = ""] = line.split(/\s+/, 2);
    switch (name) {
      case "/help":
        notice(HELP);
        return true;
      case "/quit":
      case "/exit":
        chat.stop();
        return true;
      case "/models":
        (await conversation.models()).forEach(({ id, displayName }, at) => notice(`${at + 1}. ${id}  ${displayName}${id === (chat.model ?? conversation.model) ? "  (chosen)" : ""}`));
        return true;
      case "/model": {
        if (argument === "") {
          notice("Which one? /models lists them.");
          return true;
        }
        const model = await modelNamed(argument);
        if (model === null) throw new Error(await conversation.noSuchModel(argument));
        chat.model = model;
        notice(`The next turn runs on ${model}.`);
        return true;
      }
      case "/threads": {
        const threads = await conversation.threads();
        listed = threads.map(({ id }) => id);
        threads.forEach((thread, at) => notice(`${at + 1}. ${thread.name ?? thread.preview}  ${thread.model ?? ""}  ${thread.id}${thread.id === conversation.threadId ? "  (this one)" : ""}`));
        return true;
      }
      case "/thread":
        await conversation.resume(listed[Number(argument) - 1] ?? argument);
        return true;
      case "/new":
        await conversation.start(context.model, context.cwd);
        return true;
      case "/expand": {
        const last = conversation.turns.at(/^\d+$/.test(argument) ? -1 - Number(argument) : -1);
        if (last === undefined) notice(conversation.turns.length === 0 ? "There is no turn yet." : `There are ${conversation.turns.length} turns.`);
        else context.expand(last);
        return true;
      }
      case "/steer":
        if (!conversation.running) throw new Error("No turn runs that could be told; without /steer it is the next prompt.");
        await conversation.steer(line.slice(name.length).trim());
        return true;
      case "/stop":
        await conversation.interrupt();
        return true;
      default: {
        if (!COMMAND_WORD.test(name)) return false;
        const meant = nearest(name.toLowerCase(), NAMES);
        throw new Error(`There is no command ${name}${meant === null ? "." : `; did you mean ${meant}?`} /help lists them, /${name} sends it to the agent.`);
      }
    }
  };
}
