import { expect, test } from "vitest";
import { startModelServer } from "./index.ts";

const post = (url: string, body: object): Promise<Response> =>
  fetch(`${url}/v1/messages?beta=true`, { method: "POST", body: JSON.stringify({ model: "m", stream: true, ...body }) });
const said = (text: string): object => ({ messages: [{ role: "user", content: text }] });
const resultOf = (id: string): object => ({
  messages: [{ role: "user", content: "go" }, { role: "assistant", content: [] }, { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] }],
});

test("each request gets the first reply that fits it and is left, and what is left over is known", async () => {
  await using server = await startModelServer({
    scenario: {
      replies: [
        { match: { resultOf: "b" }, blocks: [{ text: "after b" }] },
        { match: { says: "twice" }, times: 2, blocks: [{ text: "again" }] },
        { blocks: [{ tool: { id: "b", name: "Bash", input: { command: "ls" } } }] },
        { match: { says: "never" }, blocks: [] },
      ],
    },
  });
  const answers: string[] = [];
  for (const body of [said("twice"), said("first"), said("twice"), resultOf("b"), said("more")]) answers.push(await (await post(server.url, body)).text());
  expect(answers.map((text) => /"text_delta","text":"([^"]*)"/.exec(text)?.[1] ?? /"name":"(\w+)"/.exec(text)?.[1] ?? /"message":"([^"]*)"/.exec(text)?.[1]))
    .toEqual(["again", "Bash", "again", "after b", "the scenario has no reply for this request"]);
  expect(server.requests.map((request) => [request.said, request.resultsOf, request.reply === null])).toEqual([
    ["twice", [], false], ["first", [], false], ["twice", [], false], ["ok", ["b"], false], ["more", [], true],
  ]);
  expect(server.unused().map((reply) => reply.match?.says)).toEqual(["never"]);
});

test("an answer is streamed in its pieces, or whole, or breaks off, or hangs until the client goes", async () => {
  const blocks = [{ thinking: "so" }, { text: "one two", chunks: 2 }];
  await using server = await startModelServer({
    scenario: {
      replies: [
        { blocks }, { blocks, error: { status: 529, type: "overloaded_error", message: "busy" } }, { blocks },
        { blocks, dropAfter: 3 }, { error: { status: 429, type: "rate_limit_error", message: "slow down" } }, { blocks, hang: true },
      ],
    },
  });
  const types = (text: string): string[] => [...text.matchAll(/^event: (.*)$/gm)].map((found) => found[1]!);
  const whole = ["message_start", "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop", "content_block_start", "content_block_delta", "content_block_delta"];
  expect(types(await (await post(server.url, said("a"))).text())).toEqual([...whole, "content_block_stop", "message_delta", "message_stop"]);
  expect(types(await (await post(server.url, said("b"))).text())).toEqual([...whole, "error"]);
  expect(await (await post(server.url, { ...said("c"), stream: false })).json()).toMatchObject({ stop_reason: "end_turn", content: [{ thinking: "so" }, { text: "one two" }] });
  await expect(post(server.url, said("d")).then((response) => response.text())).rejects.toThrow();
  const limited = await post(server.url, said("e"));
  expect([limited.status, await limited.json()]).toEqual([429, { type: "error", error: { type: "rate_limit_error", message: "slow down" } }]);
  const abort = new AbortController();
  const hanging = await fetch(`${server.url}/v1/messages`, { method: "POST", body: JSON.stringify({ stream: true, ...said("f") }), signal: abort.signal });
  await hanging.body!.getReader().read();
  abort.abort();
  await expect.poll(() => server.requests.at(-1)?.abandoned).toBe(true);
  expect((await fetch(`${server.url}/elsewhere`)).status).toBe(404);
  expect(server.strange).toEqual(["GET /elsewhere"]);
});

test("an answer that is held begins when it is let go, even before it was asked for", async () => {
  await using server = await startModelServer({ scenario: { replies: [{ match: { says: "a" }, hold: "one", blocks: [] }, { match: { says: "b" }, hold: "two", blocks: [] }, { blocks: [] }] } });
  let isAnswered = false;
  const held = post(server.url, said("a")).then((response) => (isAnswered = response.ok));
  await expect.poll(() => server.requests.length).toBe(1);
  expect((await post(server.url, said("other"))).ok).toBe(true);
  expect(isAnswered).toBe(false);
  server.release("one");
  expect(await held).toBe(true);
  server.release("two");
  expect((await post(server.url, said("b"))).ok).toBe(true);
});
