import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DiagnosticCounter } from "@foldcast/adapter-kit";
import { orderFaults, summarizeTurn } from "@foldcast/adapter-kit/conformance";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { TurnReader } from "../history/turn-reader.ts";
import { Drafts } from "./drafts.ts";

/** What the program writes for blocks of one answer: streamed piece by piece, then the record; or the record alone. */
interface Written {
  kind: "text" | "thinking" | "tool";
  text: string;
  pieces: number;
}

class Screen {
  readonly events: HarnessEvent[] = [{ type: "turn.started", turnKey: "t", at: 0, input: [] }];
  readonly #drafts = new Drafts();
  readonly #reader = new TurnReader({ sessionId: "s", subAgents: new Map(), diagnostics: new DiagnosticCounter(), ofCommand: false });
  #at = 0;

  stream(event: object, more: object = {}): void {
    this.events.push(...this.#drafts.stream({ type: "stream_event", event, ...more }, ++this.#at));
  }

  record(messageId: string, content: object): void {
    const record = { type: "assistant", uuid: `u${++this.#at}`, message: { id: messageId, content: [content] } };
    this.events.push(...this.#drafts.join(record, this.#reader.read(record, this.#at).map((event) => ({ ...event, at: this.#at })), this.#at));
  }

  /** Streams a block up to a piece; null = whole, with its record. */
  block(messageId: string, index: number, block: Written, upTo: number | null = null): void {
    const type = block.kind === "tool" ? "tool_use" : block.kind;
    this.stream({ type: "content_block_start", index, content_block: { type } });
    const size = Math.max(1, Math.ceil(block.text.length / block.pieces));
    for (let at = 0; at < (upTo ?? block.pieces); at += 1) {
      const piece = block.text.slice(at * size, (at + 1) * size);
      if (block.kind !== "tool") this.stream({ type: "content_block_delta", index, delta: block.kind === "text" ? { type: "text_delta", text: piece } : { type: "thinking_delta", thinking: piece } });
    }
    if (upTo !== null) return;
    this.record(messageId, contentOf(block, index, messageId));
    this.stream({ type: "content_block_stop", index });
  }

  answer(messageId: string, blocks: readonly Written[], brokenAt: number | null = null): void {
    this.stream({ type: "message_start", message: { id: messageId } });
    blocks.forEach((block, index) => {
      if (brokenAt === null || index < brokenAt) this.block(messageId, index, block);
      else if (index === brokenAt) this.block(messageId, index, block, 1);
    });
    this.stream({ type: "message_stop" }, brokenAt === null ? {} : { abandoned_blocks: { api_message_id: messageId, from_block_index: brokenAt } });
  }

  finish(): { kind: string; text: string; status: string }[] {
    this.events.push(...this.#drafts.end(++this.#at), { type: "turn.completed", outcome: { status: "succeeded" }, at: this.#at });
    expect(orderFaults(this.events)).toEqual([]);
    return summarizeTurn(this.events).items.map(({ kind, text, status }) => ({ kind, text, status }));
  }
}

function contentOf(block: Written, index: number, messageId: string): object {
  if (block.kind === "tool") return { type: "tool_use", id: `${messageId}-${index}`, name: "Bash", input: {} };
  return block.kind === "text" ? { type: "text", text: block.text } : { type: "thinking", thinking: block.text };
}

const shown = (blocks: readonly Written[]): { kind: string; text: string; status: string }[] => blocks.filter(({ kind, text }) => kind === "tool" || text.trim() !== "")
  .map(({ kind, text }) => (kind === "tool" ? { kind: "tool", text: "", status: "open" } : { kind: kind === "text" ? "message" : "reasoning", text, status: "succeeded" }));

const written = fc.record({ kind: fc.constantFrom<Written["kind"][]>("text", "thinking", "tool"), text: fc.string({ minLength: 1 }).map((text) => `x${text}`), pieces: fc.integer({ min: 1, max: 5 }) });
const runs = { numRuns: 200, seed: 20_261_130 };

describe("what is streamed", () => {
  test("comes to the records' own words, whatever the pieces", () => {
    fc.assert(fc.property(fc.array(fc.array(written, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }), (answers) => {
      const screen = new Screen();
      answers.forEach((blocks, n) => screen.answer(`m${n}`, blocks));
      expect(screen.finish()).toEqual(shown(answers.flat()));
    }), runs);
  });

  test("and broken off is replaced by what comes instead; what was never said shows no word", () => {
    fc.assert(fc.property(fc.array(written, { minLength: 1, maxLength: 4 }), fc.array(written, { minLength: 1, maxLength: 4 }), fc.nat(3), fc.boolean(), (first, second, cut, streamed) => {
      const brokenAt = Math.min(cut, first.length - 1);
      const screen = new Screen();
      screen.answer("m0", first, brokenAt);
      if (streamed) screen.answer("m1", second);
      else second.forEach((block, index) => screen.record("m1", contentOf(block, index, "m1")));
      const items = screen.finish();
      expect(items.filter(({ status, text }) => status !== "cancelled" || text !== "")).toEqual(shown([...first.slice(0, brokenAt), ...second]));
      // A block of the same kind takes the place of the broken one, so that nothing is left over.
      if (first[brokenAt]!.kind === second[0]!.kind) expect(items).toHaveLength(brokenAt + second.length);
    }), runs);
  });

  test("as a thought of which the record keeps the signature alone stays as it was", () => {
    const screen = new Screen();
    screen.stream({ type: "message_start", message: { id: "m" } });
    screen.stream({ type: "content_block_start", index: 0, content_block: { type: "thinking" } });
    screen.stream({ type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "So." } });
    screen.record("m", { type: "thinking", thinking: "", signature: "x" });
    expect(screen.finish()).toEqual([{ kind: "reasoning", text: "So.", status: "succeeded" }]);
  });
});
