import { DEFAULT_POLICY, DESKTOP_POLICY, isFor, toNotification, type DeliveryPolicy } from "../delivery/index.ts";
import type { HarnessEvent, HarnessItem, ItemOutcome, ItemResult, TurnOutcome } from "../harness/index.ts";
import type { Notification } from "../wire/index.ts";
import { TurnProjector, type ProjectorOptions } from "./projector.ts";

export const OPTIONS: ProjectorOptions = {
  turnId: "T", threadId: "TH", cwd: "/w", toolMaps: {}, defaultMap: "", childThreadId: (ref) => `child-${ref}`,
};
const OK: ItemOutcome = { status: "succeeded" };

/** Short forms for event sequences in tests. Times count up by 10 ms an event. */
export class Given {
  readonly events: HarnessEvent[] = [];
  #at = 1000;
  #next(): number {
    return (this.#at += 10);
  }
  turn(text: string): this {
    this.events.push({ type: "turn.started", turnKey: "k", at: this.#next(), input: text === "" ? [] : [{ type: "text", text, text_elements: [] }], clientId: "c" });
    return this;
  }
  start(item: HarnessItem): this {
    this.events.push({ type: "item.started", item, at: this.#next() });
    return this;
  }
  text(itemId: string, append: string): this {
    this.events.push({ type: "item.updated", itemId, update: { type: "text", append }, at: this.#next() });
    return this;
  }
  output(itemId: string, append: string): this {
    this.events.push({ type: "item.updated", itemId, update: { type: "output", append }, at: this.#next() });
    return this;
  }
  done(itemId: string, result: ItemResult = {}, outcome: ItemOutcome = OK): this {
    this.events.push({ type: "item.completed", itemId, outcome, result, at: this.#next() });
    return this;
  }
  message(id: string, text: string, extra: { phase?: "commentary" | "final_answer" | "partial_answer"; outcome?: ItemOutcome } = {}): this {
    return this.start({ kind: "message", id, ...(extra.phase === undefined ? {} : { phase: extra.phase }) }).text(id, text).done(id, {}, extra.outcome ?? OK);
  }
  command(id: string, command = "ls"): this {
    return this.start({ kind: "command", id, command }).done(id, { output: "o", exitCode: 0 });
  }
  edit(id: string, path: string, before: string | null, after: string | null, outcome: ItemOutcome = OK): this {
    return this.start({ kind: "fileChange", id, edits: [{ path, before, after }] }).done(id, {}, outcome);
  }
  event(event: HarnessEvent): this {
    this.events.push(event);
    return this;
  }
  end(outcome: TurnOutcome = { status: "succeeded" }): this {
    this.events.push({ type: "turn.completed", outcome, at: this.#next() });
    return this;
  }
  project(options: Partial<ProjectorOptions> = {}): Projected {
    return project(this.events, options);
  }
}

export interface Projected {
  projector: TurnProjector;
  /** Notifications as a client of each dialect gets them. */
  frames: (policy: DeliveryPolicy) => Notification[];
}

export function project(events: readonly HarnessEvent[], options: Partial<ProjectorOptions> = {}): Projected {
  const projector = new TurnProjector({ ...OPTIONS, ...options });
  const outputs = events.flatMap((event) => projector.apply(event));
  return {
    projector,
    frames: (policy) => outputs.filter((output) => isFor(output, policy)).map((output) => toNotification(output, "TH", "T")).filter((frame) => frame !== null),
  };
}

/** One line a frame: method, item id without its turn, and what tells it apart. */
export function brief(frames: readonly Notification[]): string[] {
  return frames.map((frame) => {
    switch (frame.method) {
      case "item/started":
      case "item/completed": {
        const { item } = frame.params;
        const more = item.type === "agentMessage" ? ` ${String(item.phase)} ${JSON.stringify(item.text)}` : "status" in item ? ` ${item.status}` : "";
        const files = item.type === "fileChange" ? ` ${item.changes.map((change) => change.path).join(",")}` : "";
        return `${frame.method} ${item.id.slice(2)}${more}${files}`;
      }
      case "item/agentMessage/delta":
        return `delta ${frame.params.itemId.slice(2)} ${JSON.stringify(frame.params.delta)}`;
      case "turn/completed":
        return `turn/completed ${frame.params.turn.status} ${frame.params.turn.items.map((item) => (item.type === "agentMessage" ? `${item.id.slice(2)}=${String(item.phase)}` : "?")).join(",")}`;
      default:
        return frame.method;
    }
  });
}

export { DEFAULT_POLICY, DESKTOP_POLICY };
