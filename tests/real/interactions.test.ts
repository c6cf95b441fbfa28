import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { jsonLines } from "../support/command.ts";
import { atExit } from "../support/exit.ts";
import { isolatedEnv, temporaryDir } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { FROM_SOURCE, startServer } from "../support/server.ts";
import { Tui } from "../support/tui.ts";
import { until } from "../support/wait.ts";
import { endToEnd } from "../support/recording.ts";

endToEnd();

const approve = (id: string, kind: string): object => ({ approve: { id, kind, offers: ["accept", "acceptForSession", "decline", "cancel"] } });
const SCENARIOS = {
  asks: {
    schema: 1,
    name: "asks",
    turns: [{
      steps: [
        { tool: { id: "c", name: "shell", input: { command: "make everything" } } }, approve("c", "command"), { result: { id: "c", output: "made\n", exitCode: 0 } },
        { edit: { id: "one", path: "first.txt", before: null, after: "one\n" } },
        { edit: { id: "two", path: "second.txt", before: null, after: "two\n" } }, approve("two", "fileChange"),
        { message: "Both are settled." },
      ],
    }],
  },
};

/** `foldcast chat --json` as a child, with lines typed one by one. */
function startChat(url: string, threadId: string) {
  const [program, prefix] = FROM_SOURCE;
  const child = spawn(program, [...prefix, "chat", "--json", "--server", url, "--thread", threadId], { env: isolatedEnv(temporaryDir("chat-home")), stdio: "pipe" });
  atExit(() => child.kill("SIGKILL"));
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  const whole = () => jsonLines(stdout.slice(0, stdout.lastIndexOf("\n") + 1));
  return {
    code,
    type: (line: string) => child.stdin.write(`${line}\n`),
    end: () => child.stdin.end(),
    asked: (count: number) => until(`request ${count} in the chat`, () => whole().filter((line) => line["event"] === "interaction" && line["state"] === "open")[count - 1], { timeoutMs: 60_000, everyMs: 50 }),
    resolved: (count: number) => until(`end of request ${count} in the chat`, () => whole().filter((line) => line["method"] === "serverRequest/resolved")[count - 1], { timeoutMs: 60_000, everyMs: 50 }),
  };
}

test("the TUI and a chat on one thread: whoever answers first settles it for the other", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 1, args: ["--harness", "scripted"] });
  await using tui = await Tui.start(server.url, "interactions", { args: ["-m", "scripted/asks"] });
  await tui.ready();
  await tui.submit("go on then");
  const dialog = await tui.waitFor("Would you like to run the following command?");
  expect(dialog).toContain("make everything");
  await tui.capture("1-command");

  await using plain = await PlainClient.connect(server.url);
  const { data } = await plain.wire.request<{ data: { id: string }[] }>("thread/list", {});
  const chat = startChat(server.url, data[0]!.id);
  expect(await chat.asked(1)).toMatchObject({ body: expect.stringContaining("make everything") });
  chat.type("approve");
  const next = await tui.waitFor("second.txt");
  expect(next).toContain("Ran make everything");
  await tui.waitFor(/make the following edits/);
  await tui.capture("2-second-file");

  expect(await chat.asked(2)).toMatchObject({ body: expect.stringContaining("second.txt") });
  await tui.type("y");
  await chat.resolved(2);
  await tui.waitFor("Both are settled.");
  await tui.capture("3-settled");
  chat.end();
  expect(await chat.code).toBe(0);
});
