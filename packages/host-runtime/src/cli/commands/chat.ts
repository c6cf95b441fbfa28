import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Chat } from "../../chat/chat.ts";
import { chatCommands } from "../../chat/commands.ts";
import { Conversation } from "../../chat/conversation.ts";
import { JsonView } from "../../chat/json-view.ts";
import { LineInput } from "../../chat/line-input.ts";
import type { ClientTransport } from "../../chat/rpc-client.ts";
import { TextOutput } from "../../chat/text-output.ts";
import { TextView } from "../../chat/text-view.ts";
import { embeddedTransport, webSocketTransport } from "../../chat/transports.ts";
import { StoreLockedError } from "../../store/lock.ts";
import type { CommandSpec } from "../command.ts";
import { environmentSettings, oneOf, parseFlags, readToken, SERVER_FLAGS, serverOptions } from "../options.ts";
import { startHost, stopHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import { UsageError } from "../usage-error.ts";

const HELP = `foldcast chat [OPTIONS]

Talks with an agent on the terminal, or through a pipe: one prompt a line. An approval or a question is answered by the
next line: a number, approve, deny (with words for the agent behind it), always, or the line that it shows.

  --server ws://…       a running server, with --token-file FILE if it wants a token; default: one inside this process
  --model ID            as in foldcast models; default: the first one that is ready
  --thread ID           go on with this thread
  --cwd DIR             where the agent works (here)
  --approve ask|all|none
                        ask for every approval (default), give all of them, or none; questions are always asked
  --json                each line of output a JSON object: the server's frames as they come, and
                        {"event":"prompt"|"interaction"|"notice"|"done", …}

Without --server the flags of \`foldcast serve\` for harnesses, scenarios, folders and logs work here too. If another
foldcast has the data folder, the chat connects to it. When the input ends, what is still asked is declined, and the
chat ends with its last turn.

Examples:
  foldcast chat --model scripted/demo
  foldcast chat --server ws://127.0.0.1:4610
  printf 'do the demo\\n1\\n' | foldcast chat --json --model scripted/approval
`;

export const command: CommandSpec = {
  name: "chat",
  summary: "talk with an agent on the terminal or through a pipe",
  help: HELP,
  async run(argv, io) {
    const { values } = parseFlags({
      args: argv,
      options: {
        ...SERVER_FLAGS, server: { type: "string" }, "token-file": { type: "string" }, model: { type: "string" }, thread: { type: "string" }, cwd: { type: "string" },
        json: { type: "boolean" }, approve: { type: "string" },
      },
    });
    const approve = oneOf("--approve", values.approve ?? "ask", ["ask", "all", "none"]);
    const locale = /^zh/i.test(process.env["LC_ALL"] ?? process.env["LANG"] ?? "") ? "zh" : "en";
    const cwd = resolve(values.cwd ?? process.cwd());
    // Another machine's folders cannot be looked at from here.
    if (values.server === undefined) demandFolder(cwd);
    const write = (text: string): void => void io.stdout.write(text);
    const { stdout } = process;
    const terminal = process.stdin.isTTY && stdout.isTTY && values.json !== true;
    const json = values.json === true ? new JsonView(write) : null;
    const text = new TextView(new TextOutput({ write, size: () => (terminal ? { columns: stdout.columns, rows: stdout.rows } : null) }), locale);
    const view = json ?? text;

    const link = await connect(values, io.stderr);
    const conversation = new Conversation(link.transport, view, locale);
    const input = new LineInput(process.stdin, terminal ? stdout : null, () => chat.interrupt());
    const context = { conversation, cwd, model: values.model ?? null, notice: (words: string) => view.notice(words), expand: (turn: Parameters<TextView["expand"]>[0]) => json === null && text.expand(turn) };
    const chat = new Chat({ conversation, input, approve, notice: context.notice, command: chatCommands(context) });
    const onSignal = (): void => chat.interrupt();
    process.on("SIGINT", onSignal);
    void link.running?.stopped.then(() => chat.stop());
    try {
      await conversation.initialize();
      if (values.thread === undefined) await conversation.start(values.model ?? null, cwd);
      else {
        await conversation.resume(values.thread);
        chat.model = values.model ?? null;
      }
      if (terminal) view.notice("/help shows the commands.");
      await chat.run();
      json?.done();
      // On a terminal the person has seen it.
      return chat.refused && !terminal ? 1 : 0;
    } finally {
      process.off("SIGINT", onSignal);
      input.close();
      conversation.close();
      if (link.running !== null) await stopHost(link.running);
    }
  },
};

function demandFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) throw new UsageError(`--cwd names the folder where the agent works; ${found === undefined ? "there is none at" : "it is none:"} ${path}`);
}

interface Link {
  transport: ClientTransport;
  /** The server of this process; null = it is another one. */
  running: RunningHost | null;
}

async function connect(values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>, stderr: NodeJS.WritableStream): Promise<Link> {
  const tokenFile = typeof values["token-file"] === "string" ? values["token-file"] : null;
  if (typeof values["server"] === "string") return { transport: await webSocketTransport(values["server"], readToken(null, tokenFile)), running: null };
  const options = serverOptions(values, environmentSettings(process.env), process.env);
  let running: RunningHost;
  try {
    // Ctrl+C is the chat's own.
    running = startHost(options, undefined, ["SIGTERM", "SIGHUP"]);
  } catch (error) {
    if (!(error instanceof StoreLockedError) || error.owner?.url == null) throw error;
    stderr.write(`foldcast: connecting to the server that has ${options.dataDir}\n`);
    try {
      return { transport: await webSocketTransport(error.owner.url, options.token ?? readToken(null, tokenFile)), running: null };
    } catch (cause) {
      // The lock alone would not say that the owner wants a token.
      stderr.write(`foldcast chat: ${cause instanceof Error ? cause.message : String(cause)}\n`);
      throw error;
    }
  }
  return { transport: embeddedTransport(running.host), running };
}
