import type { InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import { silentLogger } from "../log/logger.ts";
import type { Frame } from "../rpc/frame.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { InteractionManager } from "./manager.ts";
import type { Answerer } from "./pending.ts";
import type { ChannelIdentity, InteractionHome, Screen } from "./policy.ts";

export const COMMAND: Extract<InteractionRequest, { kind: "approval" }> = { id: "r1", kind: "approval", about: "command", command: "rm -rf build", offers: ["accept", "acceptForSession", "decline", "cancel"] };
export const QUESTION: InteractionRequest = { id: "q1", kind: "question", questions: [{ id: "folder", question: "Which?", options: [{ label: "build" }, { label: "dist" }] }] };
export const METHOD_NOT_FOUND = { error: { code: -32601, message: "unsupported" } };

export class FakeScreen implements Screen {
  readonly session: Screen["session"];
  readonly frames: Record<string, unknown>[] = [];

  constructor(name: string, interaction = false, channel: ChannelIdentity | null = null) {
    this.session = { name, interaction, channel, policy: { messages: "held" } };
  }
  send(frame: Frame): void {
    this.frames.push(JSON.parse(frame.text) as Record<string, unknown>);
  }
  wants(): boolean {
    return true;
  }
  of(method: string): { id?: unknown; params: Record<string, unknown> }[] {
    return this.frames.filter((frame) => frame["method"] === method) as never;
  }
  /** The last request that it was shown. */
  get asked(): { id: string; method: string; params: Record<string, unknown> } {
    return this.frames.findLast((frame) => "id" in frame) as never;
  }
}

/** A turn in whose place the manager acts, and all that the manager did to it, in order. */
export class FakeTurn implements InteractionHome {
  readonly threadId = "TH";
  readonly turnId = "T";
  readonly turnKey = "k1";
  readonly cwd = "/w";
  readonly item = null;
  startedBy: InteractionHome["startedBy"] = null;
  takesDenyText = true;
  readonly inputs: unknown[] = [];
  readonly log: string[] = [];
  readonly answers: InteractionAnswer[] = [];
  readonly subscribers: Set<Screen>;
  readonly screens: InteractionHome["screens"];

  constructor(...screens: Screen[]) {
    this.subscribers = new Set(screens);
    this.screens = {
      subscribers: this.subscribers,
      each: (frameFor) => {
        for (const screen of this.subscribers) {
          const frame = frameFor(screen);
          if (frame !== null) screen.send(frame);
        }
      },
    };
  }
  answer(answer: InteractionAnswer, words: string | null): void {
    this.answers.push(answer);
    this.log.push(answer.kind === "approval" ? answer.decision : "answers");
    if (words !== null) this.log.push(`then says: ${words}`);
  }
  input(...given: unknown[]): void {
    this.inputs.push(given);
  }
  interrupt(): void {
    this.log.push("interrupt");
  }
  waiting(flags: readonly string[]): void {
    this.log.push(`waiting ${flags.join(",")}`);
  }
}

/** The person at a client of their own. */
export const me = (client = "a"): Answerer => ({ client, channel: null, sender: null });

export function setup(...screens: FakeScreen[]) {
  const clock = new VirtualClock();
  let ids = 0;
  const manager = new InteractionManager({ log: silentLogger, now: () => clock.now, expiryMs: 1_000, schedule: clock.schedule, newId: () => `i${(ids += 1)}` });
  return { clock, manager, turn: new FakeTurn(...screens) };
}
