import { isJsonObject } from "@foldcast/protocol-core/wire";
import { sse, type Dialect, type ModelRequest } from "./dialect.ts";
import { pieces, stopOf, type Block, type Reply, type StopReason } from "./scenario.ts";

const STOPS: Readonly<Record<StopReason, string>> = { end: "stop", tool: "tool_calls", length: "length", refusal: "content_filter" };

/** OpenAI Chat Completions, as Kimi Code 2.1.0 calls it: `POST {base_url}/chat/completions`, streamed; thinking as `reasoning_content`. */
export const chatCompletions: Dialect = {
  name: "chat-completions",
  isModelCall: (method, path) => method === "POST" && path.endsWith("/chat/completions"),
  aside: (method, path) => (method === "GET" && path.endsWith("/models") ? { object: "list", data: [] } : null),
  read,
  stream(reply, request, id) {
    let calls = 0;
    const out = [chunk(id, request, { role: "assistant", content: "" })];
    let last: string[] = [];
    for (const block of reply.blocks) {
      const deltas = deltasOf(block, calls);
      if ("tool" in block) calls += 1;
      // An answer that hangs stops in the middle of its last block.
      out.push(...last, ...deltas.slice(0, -1).map((delta) => chunk(id, request, delta)));
      last = deltas.slice(-1).map((delta) => chunk(id, request, delta));
    }
    const finish = sse({ ...envelope(id, request), choices: [{ index: 0, delta: {}, finish_reason: STOPS[stopOf(reply)] }] });
    const usage = sse({ ...envelope(id, request), choices: [], usage: usageOf(reply) });
    return { pieces: out, end: [...last, finish, usage, sse("[DONE]")] };
  },
  whole(reply, request, id) {
    const texts = reply.blocks.flatMap((block) => ("text" in block ? [block.text] : []));
    const thoughts = reply.blocks.flatMap((block) => ("thinking" in block ? [block.thinking] : []));
    const calls = reply.blocks.flatMap((block) => ("tool" in block ? [callOf(block.tool)] : []));
    const message = { role: "assistant", content: texts.join(""), ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join("") }), ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    return { ...envelope(id, request), object: "chat.completion", choices: [{ index: 0, message, finish_reason: STOPS[stopOf(reply)] }], usage: usageOf(reply) };
  },
  failure: ({ type, message }) => ({ error: { type, message, code: null, param: null } }),
  streamFailure: ({ type, message }) => [sse({ error: { type, message, code: null, param: null } })],
};

function envelope(id: string, request: ModelRequest): { id: string; object: string; created: number; model: string } {
  return { id, object: "chat.completion.chunk", created: 1, model: request.model };
}

function chunk(id: string, request: ModelRequest, delta: object): string {
  return sse({ ...envelope(id, request), choices: [{ index: 0, delta, finish_reason: null }] });
}

function callOf(tool: { id: string; name: string; input: unknown }): object {
  return { id: tool.id, type: "function", function: { name: tool.name, arguments: JSON.stringify(tool.input) } };
}

/** `index`: how many calls came before in the answer. */
function deltasOf(block: Block, index: number): object[] {
  if ("thinking" in block) return pieces(block.thinking, block.chunks).map((reasoning_content) => ({ reasoning_content }));
  if ("text" in block) return pieces(block.text, block.chunks).map((content) => ({ content }));
  const { id, name, input } = block.tool;
  return [
    { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
    ...pieces(JSON.stringify(input), block.chunks).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ];
}

function usageOf(reply: Reply): object {
  const { input = 100, cachedInput = 0, output = 10, reasoning = 0 } = reply.usage ?? {};
  return {
    prompt_tokens: input + cachedInput, completion_tokens: output, total_tokens: input + cachedInput + output,
    prompt_tokens_details: { cached_tokens: cachedInput }, completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function read(body: unknown): ModelRequest {
  const request = isJsonObject(body) ? body : {};
  const messages = Array.isArray(request["messages"]) ? request["messages"].filter(isJsonObject) : [];
  const last = messages.slice(messages.findLastIndex((message) => message["role"] === "assistant") + 1);
  const parts = last.flatMap((message) => partsOf(message["content"]));
  const system = messages.filter((message) => message["role"] === "system" || message["role"] === "developer").flatMap((message) => partsOf(message["content"]));
  return {
    model: typeof request["model"] === "string" ? request["model"] : "",
    stream: request["stream"] === true,
    system: textOf(system),
    said: textOf(parts),
    resultsOf: last.flatMap((message) => (message["role"] === "tool" && typeof message["tool_call_id"] === "string" ? [message["tool_call_id"]] : [])),
    images: parts.filter((part) => part["type"] === "image_url").length,
    tools: (Array.isArray(request["tools"]) ? request["tools"].filter(isJsonObject) : []).flatMap((tool) => {
      const fn = tool["function"];
      return isJsonObject(fn) && typeof fn["name"] === "string" ? [fn["name"]] : [];
    }),
  };
}

function partsOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

function textOf(parts: readonly Record<string, unknown>[]): string {
  return parts.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
}
