import { statSync } from "node:fs";
import { Chat } from "../../chat/chat.ts";
import { chatCommands } from "../../chat/commands.ts";
import { Conversation } from "../../chat/conversation.ts";
import { JsonView } from "../../chat/json-view.ts";
import { LineInput } from "../../chat/line-input.ts";
import { TextOutput } from "../../chat/text-output.ts";
import { TextView } from "../../chat/text-view.ts";
import type { Call } from "../command.ts";
import { connect } from "../connect.ts";
import { stopHost } from "../start-host.ts";
import type { CHAT_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

export async function run({ settings, env, stdout: out, stderr }: Call<typeof CHAT_OPTIONS>): Promise<number> {
  const { values, file } = await settings();
  const locale = /^zh/i.test(env["LC_ALL"] ?? env["LANG"] ?? "") ? "zh" : "en";
  const cwd = values.cwd ?? process.cwd();
  // Another machine's folders cannot be looked at from here.
  if (values.server === null) demandFolder(cwd);
  const write = (text: string): void => void out.write(text);
  const { stdout } = process;
  const terminal = process.stdin.isTTY && stdout.isTTY && !values.json;
  const json = values.json ? new JsonView(write) : null;
  const output = new TextOutput({ write, size: () => (terminal ? { columns: stdout.columns, rows: stdout.rows } : null) });
  const text = new TextView(output, locale);
  const view = json ?? text;

  const link = await connect({ values, file, env, stderr });
  const conversation = new Conversation(link.transport, view, locale);
  const input = new LineInput(process.stdin, terminal ? output : null, { onInterrupt: () => chat.interrupt(), onWaiting: (line) => chat.waits(line) });
  // What was written before wraps at other places now: it cannot be taken back any more.
  if (terminal) stdout.on("resize", () => output.keep());
  const context = { conversation, cwd, model: values.model, notice: (words: string) => view.notice(words), expand: (turn: Parameters<TextView["expand"]>[0]) => json === null && text.expand(turn) };
  const chat = new Chat({ conversation, input, approve: values.approve, locale, notice: context.notice, said: (line) => json === null && text.said(line), command: chatCommands(context) });
  const onSignal = (): void => chat.interrupt();
  process.on("SIGINT", onSignal);
  void link.running?.stopped.then(() => chat.stop());
  try {
    await conversation.initialize();
    if (values.thread === null) await conversation.start(values.model, cwd);
    else {
      await conversation.resume(values.thread);
      chat.model = values.model;
    }
    if (terminal) view.notice("/help shows the commands.");
    input.open();
    await chat.run();
    json?.done();
    // On a terminal the person has seen it.
    return chat.failed && !terminal ? 1 : 0;
  } finally {
    process.off("SIGINT", onSignal);
    input.close();
    conversation.close();
    if (link.running !== null) await stopHost(link.running);
  }
}

function demandFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) throw new UsageError(`--cwd names the folder where the agent works; ${found === undefined ? "there is none at" : "it is none:"} ${path}`);
}
