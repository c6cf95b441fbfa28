import { isJsonObject } from "@foldcast/protocol-core/wire";
import { sse, type Dialect, type ModelRequest } from "./dialect.ts";
import { pieces, stopOf, type Block, type Reply } from "./scenario.ts";

/** OpenAI Responses, as Codex 0.171 calls it: `POST {base_url}/responses`, always streamed. */
export const responses: Dialect = {
  name: "responses",
  isModelCall: (method, path) => method === "POST" && path.endsWith("/responses"),
  aside: (method, path) => (method === "GET" && path.endsWith("/models") ? { object: "list", data: [], models: [] } : null),
  read,
  stream(reply, request, id) {
    const out = [event({ type: "response.created", response: { id, object: "response", status: "in_progress", model: request.model } })];
    const items = reply.blocks.map((block, index) => itemOf(block, `${id}_${index}`));
    let last: string[] = [];
    reply.blocks.forEach((block, index) => {
      const item = items[index]!;
      out.push(...last, event({ type: "response.output_item.added", output_index: index, item: { ...item, ...emptyPart(block) } }));
      out.push(...deltas(block, item.id, index));
      last = [event({ type: "response.output_item.done", output_index: index, item })];
    });
    const incomplete = stopOf(reply) === "length";
    const end = [...last, event({ type: incomplete ? "response.incomplete" : "response.completed", response: whole(reply, request, id, items) })];
    return { pieces: out, end };
  },
  whole: (reply, request, id) => whole(reply, request, id, reply.blocks.map((block, index) => itemOf(block, `${id}_${index}`))),
  failure: ({ type, message }) => ({ error: { type, message, code: null, param: null } }),
  streamFailure: ({ type, message }) => [event({ type: "response.failed", response: { id: "failed", object: "response", status: "failed", error: { code: type, message } } })],
};

type Item = { id: string; type: string } & Record<string, unknown>;

function event(data: { type: string } & Record<string, unknown>): string {
  return sse(data, data.type);
}

function itemOf(block: Block, id: string): Item {
  if ("thinking" in block) return { id: `rs_${id}`, type: "reasoning", summary: [{ type: "summary_text", text: block.thinking }], encrypted_content: null };
  if ("text" in block) return { id: `msg_${id}`, type: "message", role: "assistant", status: "completed", ...(block.phase === undefined ? {} : { phase: block.phase }), content: [{ type: "output_text", text: block.text, annotations: [] }] };
  const { tool } = block;
  // A tool with a grammar of its own takes a text, all others take JSON.
  if (typeof tool.input === "string") return { id: `ctc_${id}`, type: "custom_tool_call", call_id: tool.id, name: tool.name, input: tool.input };
  return { id: `fc_${id}`, type: "function_call", call_id: tool.id, ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }), name: tool.name, arguments: JSON.stringify(tool.input) };
}

function emptyPart(block: Block): object {
  if ("thinking" in block) return { summary: [] };
  if ("text" in block) return { status: "in_progress", content: [] };
  return typeof block.tool.input === "string" ? { input: "" } : { arguments: "" };
}

function deltas(block: Block, itemId: string, index: number): string[] {
  const at = { item_id: itemId, output_index: index };
  if ("thinking" in block) {
    return [
      event({ type: "response.reasoning_summary_part.added", ...at, summary_index: 0, part: { type: "summary_text", text: "" } }),
      ...pieces(block.thinking, block.chunks).map((delta) => event({ type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta })),
    ];
  }
  if ("text" in block) {
    return pieces(block.text, block.chunks).map((delta) => event({ type: "response.output_text.delta", ...at, content_index: 0, delta }));
  }
  return [];
}

function whole(reply: Reply, request: ModelRequest, id: string, output: readonly Item[]): object {
  const { input = 100, cachedInput = 0, output: written = 10, reasoning = 0 } = reply.usage ?? {};
  const usage = {
    input_tokens: input, input_tokens_details: { cached_tokens: cachedInput }, output_tokens: written, output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + written,
  };
  return { id, object: "response", status: "completed", model: request.model, output, usage };
}

function read(body: unknown): ModelRequest {
  const request = isJsonObject(body) ? body : {};
  const input = Array.isArray(request["input"]) ? request["input"].filter(isJsonObject) : [];
  const byModel = (item: Record<string, unknown>): boolean => item["role"] === "assistant" || /^(reasoning|(custom_tool|function)_call)$/.test(String(item["type"]));
  const last = input.slice(input.findLastIndex(byModel) + 1);
  const results = last.filter((item) => /^(custom_tool|function)_call_output$/.test(String(item["type"])));
  const contents = last.filter((item) => item["role"] === "user").flatMap((item) => partsOf(item["content"]));
  const tools = [request["tools"], ...input.map((item) => item["tools"])].flatMap((list) => (Array.isArray(list) ? list.filter(isJsonObject) : []));
  return {
    model: typeof request["model"] === "string" ? request["model"] : "",
    stream: request["stream"] === true,
    system: [request["instructions"], ...input.filter((item) => item["role"] === "developer").map((item) => textOf(partsOf(item["content"])))].filter((text) => typeof text === "string").join("\n"),
    said: [textOf(contents), ...results.map((item) => (typeof item["output"] === "string" ? item["output"] : textOf(partsOf(item["output"]))))].join("\n"),
    resultsOf: results.flatMap((item) => (typeof item["call_id"] === "string" ? [item["call_id"]] : [])),
    images: contents.filter((part) => part["type"] === "input_image").length,
    tools: tools.flatMap((tool) => (typeof tool["name"] === "string" ? [tool["name"]] : [])),
  };
}

function partsOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === "string") return [{ text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

function textOf(parts: readonly Record<string, unknown>[]): string {
  return parts.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
}
