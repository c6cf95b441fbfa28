import type { TurnView } from "@foldcast/protocol-core/view";
import type { Chat } from "./chat.ts";
import type { Conversation } from "./conversation.ts";

const HELP = `/models            the models on offer        /model ID    choose one for the next turn on
/threads           recent threads             /thread ID   go on with one, by its number or id
/new               a new thread               /expand      all of the last turn
/quit              leave                      Ctrl+C       interrupt the turn; twice: leave`;

export interface CommandContext {
  conversation: Conversation;
  cwd: string;
  model: string | null;
  notice: (text: string) => void;
  expand(turn: TurnView): void;
}

/** The chat's own commands. Another line that begins with a slash is a prompt: a harness may have its own. */
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
        if (argument === "" || !(await conversation.models()).some(({ id }) => id === argument)) notice("Which one? /models lists them.");
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
      default:
        return false;
    }
  };
}
