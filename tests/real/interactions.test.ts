import { spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonLines } from "../support/command.ts";
import { atExit } from "../support/exit.ts";
import { isolatedEnv, temporaryDir } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { FOLDCAST } from "../support/program.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { confirm, gone, shown } from "../support/tui-steps.ts";
import { Tui } from "../support/tui.ts";
import { sleep, until } from "../support/wait.ts";
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
  dialogs: {
    schema: 1,
    name: "dialogs",
    turns: [{
      steps: [
        { approve: { id: "p", kind: "permissions", offers: ["accept", "acceptForSession", "decline"], reason: "Fetches packages.", permissions: { network: true, write: ["/var/packages"] } } },
        { elicit: { id: "form", server: "issues", message: "What is it called?", schema: { type: "object", properties: { title: { type: "string", title: "Title" } }, required: ["title"] } } },
        { elicit: { id: "page", server: "issues", message: "Please sign in.", url: "https://issues.example/sign-in" } },
        { elicit: { id: "mixed", server: "issues", message: "Several things.", schema: { type: "object", properties: { title: { type: "string" }, copies: { type: "integer" } }, required: ["title"] } } },
        { ask: { id: "q", questions: [{ id: "where", header: "Where", question: "Which folder?", options: [{ label: "build" }, { label: "dist" }] }] } },
        { message: "All dialogs are done." },
      ],
    }],
  },
  once: {
    schema: 1,
    name: "once",
    turns: [{
      steps: [
        { edit: { id: "one", path: "only.txt", before: null, after: "one\n" } }, { approve: { id: "one", kind: "fileChange", offers: ["accept", "decline"] } },
        { edit: { id: "two", path: "never.txt", before: null, after: "two\n" } }, { approve: { id: "two", kind: "fileChange", offers: ["accept", "decline"] } },
        { message: "Never said." },
      ],
    }],
  },
};

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ scenarios: SCENARIOS, speed: 1, args: ["--harness", "scripted"] });
});
afterAll(() => server.stop());

/** A client that hears what became of each request on the newest thread. `settled`: the outcomes, when there are so many. */
async function watch(): Promise<PlainClient & { outcomes(): unknown[]; settled(count: number): Promise<unknown[]> }> {
  const plain = await PlainClient.connect(server.url, { foldcast: { interaction: true } });
  const { data } = await plain.wire.request<{ data: { id: string }[] }>("thread/list", {});
  await plain.join(data[0]!.id);
  const outcomes = () => plain.wire.notifications.filter(({ method }) => method === "foldcast/interaction/resolved").map(({ params }) => params["answer"]);
  const settled = (count: number) => until(`outcome ${count}`, () => (outcomes().length >= count ? outcomes() : undefined));
  return Object.assign(plain, { outcomes, settled });
}

/** `foldcast chat --json` as a child, with lines typed one by one. */
function startChat(url: string, threadId: string) {
  const [program, prefix] = FOLDCAST;
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
  await using tui = await Tui.start(server.url, "interactions", { args: ["-m", "scripted/asks"] });
  await tui.ready();
  await tui.submit("go on then");
  await tui.waitFor(/Would you like to run the following command\?[^]*make everything/);
  await tui.capture("1-command");

  await using plain = await PlainClient.connect(server.url);
  const { data } = await plain.wire.request<{ data: { id: string }[] }>("thread/list", {});
  const chat = startChat(server.url, data[0]!.id);
  expect(await chat.asked(1)).toMatchObject({ body: expect.stringContaining("make everything") });
  chat.type("approve");
  await shown(tui, /Ran make everything[^]*second\.txt[^]*make the following edits[^]*Yes, proceed/);
  await tui.capture("2-second-file");

  expect(await chat.asked(2)).toMatchObject({ body: expect.stringContaining("second.txt") });
  await tui.type("y");
  await chat.resolved(2);
  await tui.waitFor("Both are settled.");
  await tui.capture("3-settled");
  chat.end();
  expect(await chat.code).toBe(0);
});

test("the TUI draws every kind, and its answers are what the agent gets", async () => {
  await using tui = await Tui.start(server.url, "dialogs", { args: ["-m", "scripted/dialogs"] });
  await tui.ready();
  await tui.submit("ask me everything");
  await shown(tui, /Would you like to grant these permissions\?[^]*Permission rule: network; write `\/var\/packages`[^]*Yes/);
  await using plain = await watch();
  await tui.capture("1-permissions");
  await tui.type("a");
  await tui.waitFor("What is it called?");
  await tui.type("Broken build");
  await confirm(tui, /Broken build/);
  await tui.waitFor(/Please sign in\.[^]*https:\/\/issues\.example\/sign-in/);
  await tui.capture("2-page");
  await tui.press("Enter");
  await tui.waitFor("Finish in Browser");
  await tui.press("Enter");
  await tui.waitFor("Several things.");
  // This dialog of the TUI has no fields: its yes fills nothing in, and another screen is there that can.
  await tui.type("y");
  await gone(tui, /Several things\./);
  await plain.settled(3);
  const mixed = await until("the fourth request", () => plain.wire.requests.find(({ params }) => params["message"] === "Several things."));
  await sleep(1_000);
  expect(plain.outcomes()).toHaveLength(3);
  plain.wire.respond(mixed.id, { action: "accept", content: { title: "From another screen" } });
  await shown(tui, /Which folder\?[^]*2\. dist[^]*esc to interrupt/);
  await tui.capture("3-question");
  // The number of an answer is the answer.
  await tui.type("2");
  await tui.waitFor("All dialogs are done.");
  expect(await plain.settled(5)).toEqual([
    { kind: "approval", decision: "acceptForSession" },
    { kind: "elicitation", action: "accept", content: { title: "Broken build" } },
    { kind: "elicitation", action: "accept" },
    { kind: "elicitation", action: "accept", content: { title: "From another screen" } },
    { kind: "question", answers: { where: ["dist"] } },
  ]);
});

test("what the TUI lists and the agent does not offer comes to less, and it is told; Esc ends the turn", async () => {
  await using tui = await Tui.start(server.url, "once", { args: ["-m", "scripted/once"] });
  await tui.ready();
  await tui.submit("edit two files");
  await shown(tui, /only\.txt[^]*Would you like to make the following edits\?[^]*don't ask again for these files/);
  await using plain = await watch();
  await tui.type("a");
  await shown(tui, /never\.txt[^]*Would you like to make the following edits\?[^]*esc to cancel/);
  await tui.press("Escape");
  await tui.waitFor("Conversation interrupted");
  // One of its own at the start, and what became of the first answer.
  await tui.waitFor("2 warnings");
  expect(await plain.settled(2)).toEqual([{ kind: "approval", decision: "accept" }, { kind: "approval", decision: "decline" }]);
  expect(await tui.scrollback()).not.toContain("Never said.");
  await tui.capture("interrupted");
});
