import { expect, test } from "vitest";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { ThreadsClient } from "./client.ts";

/** A server that has the turns of a thread only once that is opened, as Codex has of its own; `opens` = it can be. */
function server(opens: boolean): { transport: ClientTransport; asked: string[] } {
  const asked: string[] = [];
  let receive: (text: string) => void = () => undefined;
  let isOpen = false;
  const answer = (method: string): object => {
    if (method === "thread/resume") {
      isOpen = opens;
      return opens ? { result: {} } : { error: { code: -32600, message: "no rollout found" } };
    }
    return { result: { data: isOpen ? [{ id: "b" }, { id: "a" }] : [], nextCursor: null } };
  };
  const transport: ClientTransport = {
    send(text) {
      const { id, method } = JSON.parse(text) as { id: number; method: string };
      asked.push(method);
      queueMicrotask(() => receive(JSON.stringify({ id, ...answer(method) })));
    },
    listen: (onText) => void (receive = onText),
    close: () => undefined,
  };
  return { transport, asked };
}

test.each([
  ["are those of a thread that had to be opened first", true, ["b", "a"]],
  ["are none where it cannot be opened", false, []],
])("turns %s", async (_, opens, ids) => {
  const { transport, asked } = server(opens);
  const turns: string[] = [];
  for await (const { id } of new ThreadsClient(transport).turns("t", 10)) turns.push(id);
  expect(turns).toEqual(ids);
  expect(asked.slice(0, 2)).toEqual(["thread/turns/list", "thread/resume"]);
});

test("a thread whose turns are there is not opened for them", async () => {
  const { transport, asked } = server(true);
  const client = new ThreadsClient(transport);
  for await (const turn of client.turns("t", 1)) expect(turn.id).toBe("b");
  asked.length = 0;
  for await (const turn of client.turns("t", 1)) expect(turn.id).toBe("b");
  expect(asked).toEqual(["thread/turns/list"]);
});
