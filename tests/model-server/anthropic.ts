import { isJsonObject } from "@foldcast/protocol-core/wire";
import { sse, type Dialect, type ModelRequest } from "./dialect.ts";
import { pieces, stopOf, type Block, type Reply, type StopReason } from "./scenario.ts";

const STOPS: Readonly<Record<StopReason, string>> = { end: "end_turn", tool: "tool_use", length: "max_tokens", refusal: "refusal" };

/** Anthropic Messages, as Claude Code 2.1.332 calls it: `POST /v1/messages?beta=true`, streamed; once more without a stream after a broken one. */
export const anthropic: Dialect = {
  name: "anthropic",
  isModelCall: (method, path) => method === "POST" && path.endsWith("/v1/messages"),
  aside(method, path, body) {
    if (method === "POST" && path.endsWith("/v1/messages/count_tokens")) return { input_tokens: Math.ceil(JSON.stringify(body).length / 4) };
    return null;
  },
  read,
  stream(reply, request, id) {
    const usage = usageOf(reply);
    const message = { id, type: "message", role: "assistant", model: request.model, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } };
    const out = [event({ type: "message_start", message })];
    let last: string[] = [];
    reply.blocks.forEach((block, index) => {
      out.push(...last, event({ type: "content_block_start", index, content_block: emptyBlock(block) }), ...deltas(block).map((delta) => event({ type: "content_block_delta", index, delta })));
      last = [event({ type: "content_block_stop", index })];
    });
    const end = [
      ...last,
      event({ type: "message_delta", delta: { stop_reason: STOPS[stopOf(reply)], stop_sequence: null }, usage }),
      event({ type: "message_stop" }),
    ];
    return { pieces: out, end };
  },
  whole: (reply, request, id) => ({
    id, type: "message", role: "assistant", model: request.model, content: reply.blocks.map(wholeBlock),
    stop_reason: STOPS[stopOf(reply)], stop_sequence: null, usage: usageOf(reply),
  }),
  failure: ({ type, message }) => ({ type: "error", error: { type, message } }),
  streamFailure: ({ type, message }) => [event({ type: "error", error: { type, message } })],
};

function event(data: { type: string } & Record<string, unknown>): string {
  return sse(data, data.type);
}

function usageOf(reply: Reply): Record<string, number> {
  const { input = 100, cachedInput = 0, output = 10 } = reply.usage ?? {};
  return { input_tokens: input, cache_creation_input_tokens: 0, cache_read_input_tokens: cachedInput, output_tokens: output };
}

function emptyBlock(block: Block): object {
  if ("thinking" in block) return { type: "thinking", thinking: "", signature: "" };
  if ("text" in block) return { type: "text", text: "" };
  return { type: "tool_use", id: block.tool.id, name: block.tool.name, input: {} };
}

function deltas(block: Block): object[] {
  if ("thinking" in block) {
    return [...pieces(block.thinking, block.chunks).map((thinking) => ({ type: "thinking_delta", thinking })), { type: "signature_delta", signature: SIGNATURE }];
  }
  if ("text" in block) return pieces(block.text, block.chunks).map((text) => ({ type: "text_delta", text }));
  return pieces(JSON.stringify(block.tool.input), block.chunks).map((partial_json) => ({ type: "input_json_delta", partial_json }));
}

const SIGNATURE = Buffer.from("a signature of the scripted model").toString("base64");

function wholeBlock(block: Block): object {
  if ("thinking" in block) return { type: "thinking", thinking: block.thinking, signature: SIGNATURE };
  if ("text" in block) return { type: "text", text: block.text };
  return { type: "tool_use", id: block.tool.id, name: block.tool.name, input: block.tool.input };
}

function read(body: unknown): ModelRequest {
  const request = isJsonObject(body) ? body : {};
  const messages = Array.isArray(request["messages"]) ? request["messages"].filter(isJsonObject) : [];
  const last = messages.slice(messages.findLastIndex((message) => message["role"] === "assistant") + 1);
  const blocks = last.flatMap((message) => blocksOf(message["content"]));
  const results = blocks.filter((block) => block["type"] === "tool_result");
  const inside = results.flatMap((block) => blocksOf(block["content"]));
  return {
    model: typeof request["model"] === "string" ? request["model"] : "",
    stream: request["stream"] === true,
    system: textOf(blocksOf(request["system"])),
    said: textOf([...blocks, ...inside]),
    resultsOf: results.flatMap((block) => (typeof block["tool_use_id"] === "string" ? [block["tool_use_id"]] : [])),
    images: [...blocks, ...inside].filter((block) => block["type"] === "image").length,
    tools: (Array.isArray(request["tools"]) ? request["tools"].filter(isJsonObject) : []).flatMap((tool) => (typeof tool["name"] === "string" ? [tool["name"]] : [])),
  };
}

function blocksOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

function textOf(blocks: readonly Record<string, unknown>[]): string {
  return blocks.flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : [])).join("\n");
}
