import type { TurnView } from "@foldcast/protocol-core/view";
import { nearest } from "../nearest.ts";
import type { Chat } from "./chat.ts";
import type { Conversation } from "./conversation.ts";

const HELP = `/models            the models on offer        /model ID    choose one for the next turn on
/threads           recent threads             /thread ID   go on with one, by its number or id
/new               a new thread               /expand      all of the last turn
/quit              leave                      Ctrl+C       interrupt the turn; twice: leave
//text             sends /text to the agent`;
const NAMES = ["/help", "/models", "/model", "/threads", "/thread", "/new", "/expand", "/quit", "/exit"];
/** A path is none, and neither is the typed form of an answer. */
const COMMAND_WORD = /^\/[a-z][a-z0-9-]*$/i;

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
        for (const { id, displayName } of await conversation.models()) notice(`${id}  ${displayName}`);
        return true;
      case "/model":
        if (argument === "") notice("Which one? /models lists them.");
        else if (!(await conversation.models()).some(({ id }) => id === argument)) throw new Error(await conversation.noSuchModel(argument));
        else {
          chat.model = argument;
          notice(`The next turn runs on ${argument}.`);
        }
        return true;
      case "/threads": {
        const threads = await conversation.threads();
        listed = threads.map(({ id }) => id);
        threads.forEach((thread, at) => notice(`${at + 1}. ${thread.name ?? thread.preview}  ${thread.model ?? ""}  ${thread.id}`));
        return true;
      }
      case "/thread":
        await conversation.resume(listed[Number(argument) - 1] ?? argument);
        return true;
      case "/new":
        await conversation.start(context.model, context.cwd);
        return true;
      case "/expand": {
        const last = conversation.turns.at(-1);
        if (last === undefined) notice("There is no turn yet.");
        else context.expand(last);
        return true;
      }
      default: {
        if (!COMMAND_WORD.test(name)) return false;
        const meant = nearest(name.toLowerCase(), NAMES);
        throw new Error(`There is no command ${name}${meant === null ? "." : `; did you mean ${meant}?`} /help lists them, /${name} sends it to the agent.`);
      }
    }
  };
}
