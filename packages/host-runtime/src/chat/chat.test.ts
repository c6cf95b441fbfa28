import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { InteractionRequest } from "@foldcast/protocol-core/harness";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestHost } from "../testing/client.ts";
import type { FakeSession, TurnScript } from "../testing/fake-adapter.ts";
import { Chat } from "./chat.ts";
import type { ApproveMode } from "./chat.ts";
import { Conversation } from "./conversation.ts";
import { JsonView } from "./json-view.ts";
import { makeSignal } from "./signal.ts";
import { embeddedTransport } from "./transports.ts";

const APPROVAL: InteractionRequest = { id: "ask", kind: "approval", about: "tool", title: "Fetch a page", offers: ["accept", "decline"] };
/** Asks; the test's hook on `answer` ends the turn. */
const asks: TurnScript = (session, input, key) => {
  session.begin(key, input);
  session.emit({ type: "interaction.opened", at: session.now(), interaction: APPROVAL });
};

class TypedInput {
  #lines: (string | null)[] = [];
  #arrival = makeSignal();
  taken = 0;

  type(...lines: (string | null)[]): void {
    this.#lines.push(...lines);
    this.#arrival.resolve();
    this.#arrival = makeSignal();
  }
  ready(): Promise<void> {
    return this.#lines.length > 0 ? Promise.resolve() : this.#arrival.promise;
  }
  take(): string | null | undefined {
    if (this.#lines[0] === null) return null;
    const line = this.#lines.shift();
    if (line !== undefined) this.taken += 1;
    return line;
  }
  takeAtOnce(): undefined {
    return undefined;
  }
  arrival(): Promise<void> {
    return this.#arrival.promise;
  }
  drop(): string[] {
    return [];
  }
}

let setup: TestHost;
beforeEach(async () => {
  setup = await startTestHost();
});
afterEach(() => setup.host.close());

function startChat(approve: ApproveMode = "ask", command: (line: string) => Promise<boolean> = () => Promise.resolve(false)) {
  const events: Record<string, unknown>[] = [];
  const view = new JsonView((line) => void events.push(JSON.parse(line) as Record<string, unknown>));
  const conversation = new Conversation(embeddedTransport(setup.host), view, "en");
  const input = new TypedInput();
  const chat = new Chat({ conversation, input, approve, said: () => undefined, notice: (text) => view.notice(text), command });
  const done = (async () => {
    await conversation.initialize();
    await conversation.start(null, "/w");
    await chat.run();
  })();
  const until = async <T>(look: () => T | undefined): Promise<T> => {
    for (let tries = 0; tries < 500; tries += 1) {
      const found = look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`not seen in ${JSON.stringify(events).slice(-2_000)}`);
  };
  const event = (name: string, state?: string) => until(() => events.find((each) => each["event"] === name && each["state"] === state));
  const session = (): Promise<FakeSession> => until(() => setup.adapter.sessions[0]);
  const answered = () => until(() => setup.adapter.sessions[0]?.answers[0]?.answer);
  return { events, conversation, input, chat, done, until, event, session, answered };
}
test("lines wait until they are wanted: one a turn, one a request", async () => {
  const { input, done, event, session, answered } = startChat();
  setup.adapter.script = asks;
  input.type("first", "deny use the cache", null);
  await event("interaction", "open");
  // The words of a refusal reach the harness.
  expect(await answered()).toEqual({ kind: "approval", decision: "decline", text: "use the cache" });
  (await session()).end({ status: "succeeded" });
  await done;
  expect(setup.adapter.turns).toBe(1);
});

test("what only lists is listed while a request waits, and answers nothing", async () => {
  const commands: string[] = [];
  const { events, input, done, event, session, answered } = startChat("ask", (line) => {
    if (line.startsWith("/")) commands.push(line);
    return Promise.resolve(line.startsWith("/"));
  });
  setup.adapter.script = asks;
  input.type("go");
  await event("interaction", "open");
  input.type("/models", "/threads", "/expand", "/help", "approve", null);
  expect(await answered()).toEqual({ kind: "approval", decision: "accept" });
  (await session()).end({ status: "succeeded" });
  await done;
  expect(commands).toEqual(["/models", "/threads", "/expand", "/help"]);
  expect(events.filter((each) => each["event"] === "notice")).toEqual([]);
});

test("a question-like approval lists what is offered, and takes approve", async () => {
  const { input, done, event, session, answered } = startChat();
  setup.adapter.script = asks;
  input.type("go");
  const open = await event("interaction", "open");
  expect((open["actions"] as { value: string }[]).map(({ value }) => value)).toEqual(["approve", "deny"]);
  input.type("approve", null);
  expect(await answered()).toEqual({ kind: "approval", decision: "accept" });
  (await session()).end({ status: "succeeded" });
  await done;
});

describe("nobody to ask", () => {
  test.each<[string, ApproveMode, (string | null)[], string]>([
    ["the end of the input declines", "ask", ["go", null], "decline"],
    ["--approve none declines without taking a line", "none", ["go"], "decline"],
    ["--approve all accepts without taking a line", "all", ["go"], "accept"],
  ])("%s", async (_name, mode, lines, decision) => {
    const { input, done, session, answered } = startChat(mode);
    setup.adapter.script = asks;
    input.type(...lines);
    expect(await answered()).toEqual({ kind: "approval", decision });
    (await session()).end({ status: "succeeded" });
    input.type(null);
    await done;
    expect(input.taken).toBe(1);
  });
});

test("a failed turn and a prompt that is refused make the chat end as failed; a declined one does not", async () => {
  const ends = async (script: TurnScript): Promise<boolean> => {
    const { input, chat, done } = startChat();
    setup.adapter.script = script;
    input.type("go", null);
    await done;
    return chat.failed;
  };
  expect(await ends((made, given, key) => {
    made.begin(key, given);
    made.end({ status: "failed", error: { message: "no" } });
  })).toBe(true);
  expect(await ends(() => Promise.reject(new Error("no such model")))).toBe(true);
  expect(await ends((made, given, key) => {
    made.begin(key, given);
    made.end({ status: "succeeded" });
  })).toBe(false);
});

describe("what is offered while nobody waits", () => {
  const suggests: TurnScript = (made, given, key) => {
    made.begin(key, given);
    if (key === "k1") made.emit({ type: "interaction.opened", at: made.now(), interaction: { id: "s", kind: "quickReply", text: "Next?", replies: [{ label: "Go on", value: "go on please" }, { label: "Stop" }] } });
    made.end({ status: "succeeded" });
  };
  const prompts = (events: Record<string, unknown>[]): unknown[] => events.filter((event) => event["method"] === "item/completed").map((event) => (event["params"] as { item: { content: [{ text: string }] } }).item.content[0].text);

  test.each([["by its number", "1"], ["by its label", "stop"], ["by the line of the block", "/_interaction ID Go on"]])("is chosen %s, and the next line waits for that turn", async (_, line) => {
    const { events, conversation, input, done, until } = startChat();
    setup.adapter.script = suggests;
    input.type("go");
    const offer = await until(() => conversation.offerFor("1") ?? undefined);
    await until(() => (conversation.running ? undefined : true));
    input.type(line.replace("ID", offer.interactionId), "after that", null);
    await done;
    expect(prompts(events)).toEqual(["go", line === "stop" ? "Stop" : "go on please", "after that"]);
  });

  test("is gone with another prompt", async () => {
    const { events, conversation, input, done, until } = startChat();
    setup.adapter.script = suggests;
    input.type("go");
    await until(() => conversation.offerFor("1") ?? undefined);
    input.type("another prompt", "1", null);
    await done;
    expect(prompts(events)).toEqual(["go", "another prompt", "1"]);
  });
});

test("a form is filled in question by question", async () => {
  const { events, input, done, event, session, until } = startChat();
  setup.adapter.script = (made, given, key) => {
    made.begin(key, given);
    made.emit({ type: "interaction.opened", at: made.now(), interaction: { id: "f", kind: "elicitation", server: "s", message: "m", mode: "form", schema: { properties: { name: { type: "string" }, copies: { type: "integer", maximum: 3 } }, required: ["name"] } } });
  };
  input.type("go", "Broken build", "9", "2", null);
  expect(await event("interaction", "open")).toMatchObject({ kind: "formSubmit", fields: [{ id: "name" }, { id: "copies" }] });
  await until(() => setup.adapter.sessions[0]?.answers[0]);
  expect((await session()).answers[0]!.answer).toEqual({ kind: "elicitation", action: "accept", content: { name: "Broken build", copies: 2 } });
  expect(events.filter((each) => each["event"] === "notice").map((each) => each["text"])).toEqual(["Noted. copies (optional)", "Expected: copies=<a whole number>"]);
  (await session()).end({ status: "succeeded" });
  await done;
});

test("a request that another screen answers takes no line", async () => {
  const { conversation, input, done, event, until, session } = startChat();
  setup.adapter.script = asks;
  input.type("go");
  const { requestId } = await event("interaction", "open");
  const other = await connectStdio(setup.host).initialize();
  await other.call("thread/resume", { threadId: conversation.threadId });
  other.sendRaw(JSON.stringify({ id: requestId, result: { answers: { approval: { answers: ["Approve"] } } } }));
  await until(() => (conversation.request === null ? true : undefined));
  (await session()).end({ status: "succeeded" });
  await until(() => (conversation.running ? undefined : true));
  setup.adapter.script = (made, given, key) => {
    made.begin(key, given);
    made.end({ status: "succeeded" });
  };
  input.type("the next prompt", null);
  await done;
  expect(setup.adapter.turns).toBe(2);
});

test("Ctrl+C interrupts the turn, twice ends the chat", async () => {
  const { conversation, input, chat, done, event, until } = startChat();
  setup.adapter.script = asks;
  input.type("go");
  await event("interaction", "open");
  chat.interrupt();
  await until(() => (conversation.running ? undefined : true));
  expect(conversation.turns.at(-1)!.status).toBe("interrupted");
  expect(conversation.request).toBeNull();
  chat.interrupt();
  await done;
});

test("the end of the server ends the chat with an error", async () => {
  const { done, until, conversation } = startChat();
  await until(() => conversation.threadId ?? undefined);
  const failed = expect(done).rejects.toThrow("the server has ended");
  await setup.host.close();
  await failed;
});
