import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLogger } from "../log/logger.ts";
import { listen } from "../rpc/listen.ts";
import type { Listener } from "../rpc/listen.ts";
import { Host } from "../host.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestHost } from "../testing/client.ts";
import { textOf } from "../testing/fake-adapter.ts";
import { Chat } from "./chat.ts";
import { chatCommands } from "./commands.ts";
import { Conversation } from "./conversation.ts";
import { JsonView } from "./json-view.ts";
import { embeddedTransport, webSocketTransport } from "./transports.ts";

let setup: TestHost;
beforeEach(async () => {
  setup = await startTestHost();
});
afterEach(() => setup.host.close());

/** Says the lines one after the other; gives what the chat said itself and what the agent was told. */
async function say(...lines: string[]): Promise<{ notices: string[]; prompts: string[]; refused: boolean }> {
  const notices: string[] = [];
  const prompts: string[] = [];
  setup.adapter.script = (session, input, key) => {
    prompts.push(textOf(input));
    session.begin(key, input);
    session.end({ status: "succeeded" });
  };
  const conversation = new Conversation(embeddedTransport(setup.host), new JsonView(() => undefined), "en");
  const notice = (text: string): void => void notices.push(text);
  const waiting: (string | null)[] = [...lines, null];
  const command = chatCommands({ conversation, cwd: "/w", model: null, notice, expand: () => undefined });
  const chat = new Chat({
    conversation, approve: "ask", notice, command, said: () => undefined,
    input: { ready: () => Promise.resolve(), take: () => (waiting.length > 1 ? waiting.shift() : null), takeAtOnce: () => undefined, arrival: () => new Promise(() => undefined), drop: () => [] },
  });
  await conversation.initialize();
  await conversation.start(null, "/w");
  await chat.run();
  return { notices, prompts, refused: chat.failed };
}

describe("a line that begins with a slash", () => {
  test("is no prompt when it looks like a command: the chat says which one was meant", async () => {
    const { notices, prompts, refused } = await say("/hlep", "/xyzzy now");
    expect(prompts).toEqual([]);
    expect(notices[0]).toBe("There is no command /hlep; did you mean /help? /help lists them, //hlep sends it to the agent.");
    expect(notices[1]).toBe("There is no command /xyzzy. /help lists them, //xyzzy sends it to the agent.");
    expect(refused).toBe(true);
  });

  test("reaches the agent with two slashes, and when it is a path", async () => {
    expect((await say("//compact please", "/etc/hosts is wrong")).prompts).toEqual(["/compact please", "/etc/hosts is wrong"]);
  });

  test("goes on with a thread by the beginning of its id, and names the one that was meant", async () => {
    await say("a first prompt");
    const [known] = await setup.host.threads.list({}).then(({ data }) => data);
    const id = known!.id;
    expect((await say(`/thread ${id.slice(0, 13)}`)).refused).toBe(false);
    expect((await say(`/thread ${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`)).notices[0]).toContain(`did you mean ${id}?`);
    expect((await say("/thread 12")).notices[0]).toBe("there is no thread `12`; foldcast threads list shows them");
  });

  test("says of a thread that was put away what brings it back", async () => {
    await say("a first prompt");
    const [known] = await setup.host.threads.list({}).then(({ data }) => data);
    const id = known!.id;
    await (await connectStdio(setup.host).initialize()).call("thread/archive", { threadId: id });
    expect((await say(`/thread ${id}`)).notices[0]).toBe(`thread ${id} is archived; foldcast threads unarchive ${id} brings it back`);
  });

  test("names a model that is not there with the one that was meant", async () => {
    const known = (await setup.host.catalogue.models())[0]!.id;
    const { notices } = await say(`/model ${known.slice(0, -1)}x`);
    expect(notices).toEqual([`there is no model \`${known.slice(0, -1)}x\`; did you mean \`${known}\`?`]);
  });
});

describe("a chat cannot begin", () => {
  const conversationOn = (host: Host): Conversation => new Conversation(embeddedTransport(host), new JsonView(() => undefined), "en");

  test("with a mistyped model, which it names", async () => {
    const conversation = conversationOn(setup.host);
    await conversation.initialize();
    const known = (await setup.host.catalogue.models())[0]!.id;
    await expect(conversation.start(`${known}x`, "/w")).rejects.toThrow(`did you mean \`${known}\`?`);
  });

  test("where no model is ready", async () => {
    const host = new Host({ harnesses: [], dataDir: "/nonexistent", dialect: "auto", log: silentLogger });
    const conversation = conversationOn(host);
    await conversation.initialize();
    await expect(conversation.start(null, "/w")).rejects.toThrow("no model is ready");
    await host.close();
  });
});

describe("a server that cannot be used is named with what to do", () => {
  let listener: Listener;
  beforeEach(async () => {
    listener = await listen({ kind: "tcp", host: "127.0.0.1", port: 0 }, { connect: (transport) => setup.host.connect(transport), token: "right" });
  });
  afterEach(() => listener.close());

  test.each([[null, "it wants a token; give the file that holds it with --token-file FILE"], ["wrong", "it refuses the token"]])("token %s", async (token, words) => {
    await expect(webSocketTransport(listener.url, token)).rejects.toThrow(words);
  });

  test("nobody there, and no address at all", async () => {
    const { url } = listener;
    (await webSocketTransport(url, "right")).close();
    await listener.close();
    await expect(webSocketTransport(url, null)).rejects.toThrow("nobody listens there");
    await expect(webSocketTransport("localhost:4610", null)).rejects.toThrow("ws://HOST:PORT");
  });
});
