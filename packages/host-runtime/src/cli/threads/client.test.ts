import { expect, test } from "vitest";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { ThreadsClient } from "./client.ts";

/** A server with one thread of three turns: in pages, only as a whole, or not at all. */
function server(has: "pages" | "whole" | "none"): { transport: ClientTransport; asked: string[] } {
  const asked: string[] = [];
  let receive: (text: string) => void = () => undefined;
  const turns = [{ id: "a" }, { id: "b" }, { id: "c" }];
  const answer = (method: string): object => {
    if (method === "thread/turns/list") return { result: { data: has === "pages" ? turns.toReversed() : [], nextCursor: null } };
    return has === "whole" ? { result: { thread: { turns } } } : { error: { code: -32600, message: "no rollout found" } };
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
  ["come in pages, newest first", "pages", ["c", "b"], ["thread/turns/list"]],
  ["come from the whole thread where there are no pages of it", "whole", ["c", "b"], ["thread/turns/list", "thread/read"]],
  ["are none where it cannot be read", "none", [], ["thread/turns/list", "thread/read"]],
] as const)("turns %s", async (_, has, ids, methods) => {
  const { transport, asked } = server(has);
  const turns: string[] = [];
  for await (const { id } of new ThreadsClient(transport).turns("t", 2)) turns.push(id);
  expect(turns).toEqual(ids);
  expect(asked).toEqual(methods);
});
