import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import { silentLogger } from "../log/logger.ts";
import type { Frame } from "../rpc/frame.ts";
import { MemoryInteractionStore } from "../store/interactions.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { InteractionManager } from "./manager.ts";
import type { Answerer } from "./pending.ts";
import type { ChannelIdentity, InteractionHome, Screen } from "./policy.ts";

const COMMAND: InteractionRequest = { id: "r1", kind: "approval", about: "command", command: "rm -rf build", offers: ["accept", "acceptForSession", "decline", "cancel"] };
const QUESTION: InteractionRequest = { id: "q1", kind: "question", questions: [{ id: "folder", question: "Which?", options: [{ label: "build" }, { label: "dist" }] }] };
const METHOD_NOT_FOUND = { error: { code: -32601, message: "unsupported" } };

class FakeScreen implements Screen {
  readonly session: Screen["session"];
  readonly frames: Record<string, unknown>[] = [];

  constructor(name: string, interaction = false, channel: ChannelIdentity | null = null) {
    this.session = { name, interaction, channel, policy: { messages: "held" } };
  }
  send(frame: Frame): void {
    this.frames.push(JSON.parse(frame.text) as Record<string, unknown>);
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
class FakeTurn implements InteractionHome {
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
const me = (client = "a"): Answerer => ({ client, channel: null, sender: null });

function setup(...screens: FakeScreen[]) {
  const clock = new VirtualClock();
  let ids = 0;
  const manager = new InteractionManager({ log: silentLogger, now: () => clock.now, expiryMs: 1_000, schedule: clock.schedule, newId: () => `i${(ids += 1)}` });
  return { clock, manager, turn: new FakeTurn(...screens) };
}

describe("an approval", () => {
  it("goes to every screen under one id, and the first answer settles it for all", () => {
    const [a, b] = [new FakeScreen("a"), new FakeScreen("b")];
    const { manager, turn } = setup(a, b);
    manager.opened(COMMAND, turn);
    expect(a.asked).toEqual(b.asked);
    expect(a.asked).toMatchObject({ id: "foldcast:i1", method: "item/commandExecution/requestApproval", params: { availableDecisions: ["accept", "acceptForSession", "decline", "cancel"] } });
    expect(manager.reply(b, "foldcast:i1", { result: { decision: "acceptForSession" } })).toBe(true);
    expect(manager.reply(a, "foldcast:i1", { result: { decision: "decline" } })).toBe(false);
    expect(turn.log).toEqual(["waiting waitingOnApproval", "waiting ", "acceptForSession"]);
    for (const screen of [a, b]) expect(screen.of("serverRequest/resolved").map(({ params }) => params)).toEqual([{ threadId: "TH", requestId: "foldcast:i1" }]);
  });

  it("tells who and what to clients that asked to know, and the neutral form of it before", () => {
    const [plain, curious] = [new FakeScreen("plain"), new FakeScreen("curious", true)];
    const { manager, turn } = setup(plain, curious);
    manager.opened(COMMAND, turn);
    expect(plain.asked.params).not.toHaveProperty("foldcast");
    expect(curious.asked.params).toMatchObject({ foldcast: { interaction: { interactionId: "foldcast:i1", kind: "approval", expiresAt: 1_000 } } });
    manager.reply(plain, "foldcast:i1", { result: { decision: "accept" } });
    expect(plain.of("foldcast/interaction/resolved")).toEqual([]);
    expect(curious.of("foldcast/interaction/resolved")[0]!.params).toEqual({
      threadId: "TH", turnId: "T", requestId: "foldcast:i1", how: "answered", by: { client: "plain", sender: null }, answer: { kind: "approval", decision: "accept" },
    });
  });

  it("is declined by an answer that cannot be read", () => {
    for (const outcome of [{ result: { decision: "banana" } }, { result: null }, { error: { code: -32000, message: "no" } }]) {
      const screen = new FakeScreen("a");
      const { manager, turn } = setup(screen, new FakeScreen("b"));
      manager.opened(COMMAND, turn);
      manager.reply(screen, "foldcast:i1", outcome);
      expect(turn.answers).toEqual([{ kind: "approval", decision: "decline" }]);
    }
  });

  it("is not decided by a client that cannot draw it while another can", () => {
    const [a, b] = [new FakeScreen("a"), new FakeScreen("b")];
    const { manager, turn } = setup(a, b);
    manager.opened(COMMAND, turn);
    manager.reply(a, "foldcast:i1", METHOD_NOT_FOUND);
    expect(manager.size).toBe(1);
    manager.reply(b, "foldcast:i1", METHOD_NOT_FOUND);
    expect(turn.answers).toEqual([{ kind: "approval", decision: "decline" }]);
  });

  it("that is cancelled declines and interrupts: by the harness where it offers that, else by the host", () => {
    const screen = new FakeScreen("a");
    const { manager, turn, clock } = setup(screen);
    manager.opened(COMMAND, turn);
    manager.reply(screen, "foldcast:i1", { result: { decision: "cancel" } });
    expect(turn.log.slice(2)).toEqual(["cancel"]);
    clock.pass(1_000);
    expect(turn.log.slice(2)).toEqual(["cancel", "interrupt"]);
    manager.opened({ ...COMMAND, offers: ["accept", "decline"] }, turn);
    manager.reply(screen, "foldcast:i2", { result: { decision: "cancel" } });
    expect(turn.log.slice(-2)).toEqual(["decline", "interrupt"]);
  });

  it("never gets more than the harness offers; without any way to say no, a no ends the turn", () => {
    const screen = new FakeScreen("a");
    const { manager, turn } = setup(screen);
    manager.opened({ ...COMMAND, offers: ["accept"] }, turn);
    manager.reply(screen, "foldcast:i1", { result: { decision: "acceptForSession" } });
    manager.opened({ ...COMMAND, offers: ["accept"] }, turn);
    manager.reply(screen, "foldcast:i2", { result: { decision: "decline" } });
    expect(turn.log.filter((line) => !line.startsWith("waiting"))).toEqual(["accept", "decline", "interrupt"]);
  });

  it("is denied with a reason when it expires, watched or not, and may be answered until then by who joins", () => {
    const { manager, turn, clock } = setup();
    manager.opened(COMMAND, turn);
    clock.pass(999);
    expect(manager.size).toBe(1);
    const late = new FakeScreen("late");
    turn.subscribers.add(late);
    manager.replay("TH", late);
    manager.replay("TH", late);
    expect(late.frames).toHaveLength(1);
    expect(late.asked.id).toBe("foldcast:i1");
    clock.pass(1);
    expect(turn.answers).toEqual([{ kind: "approval", decision: "decline", text: "Nobody answered within 1 seconds." }]);
    expect(manager.reply(late, "foldcast:i1", { result: { decision: "accept" } })).toBe(false);
    expect(manager.typed("TH", "foldcast:i1", "approve", me("late"))).toMatchObject({ status: "expired", message: "The interaction foldcast:i1 has expired." });
  });

  it("is not answered by whom it was never shown, nor on another thread", () => {
    const { manager, turn } = setup(new FakeScreen("a"));
    manager.opened(COMMAND, turn);
    expect(manager.reply(new FakeScreen("stranger"), "foldcast:i1", { result: { decision: "accept" } })).toBe(false);
    expect(manager.typed("another", "foldcast:i1", "approve", me())).toMatchObject({ status: "unknown" });
    expect(manager.size).toBe(1);
  });

  it("takes words for the agent with a typed no", () => {
    const { manager, turn } = setup();
    manager.opened(COMMAND, turn);
    expect(manager.typed("TH", "foldcast:i1", "maybe", me())).toMatchObject({ status: "invalid", message: "That is no answer to the interaction foldcast:i1. Expected: approve, deny, always." });
    expect(manager.typed("TH", "foldcast:i1", "deny use git clean", me())).toMatchObject({ status: "accepted" });
    expect(turn.answers).toEqual([{ kind: "approval", decision: "decline", text: "use git clean" }]);
  });
});

describe("a question", () => {
  it("is not settled by an empty answer while another screen is there; alone it is skipped", () => {
    const [desktop, other] = [new FakeScreen("desktop"), new FakeScreen("other")];
    const { manager, turn } = setup(desktop, other);
    manager.opened(QUESTION, turn);
    manager.reply(desktop, "foldcast:i1", { result: { answers: {} } });
    expect(turn.answers).toEqual([]);
    turn.subscribers.delete(other);
    manager.reply(desktop, "foldcast:i1", { result: { answers: {} } });
    expect(turn.answers).toEqual([{ kind: "question", answers: {} }]);
    expect(turn.log[0]).toBe("waiting waitingOnUserInput");
  });

  it("of several parts is answered one by one", () => {
    const { manager, turn } = setup();
    manager.opened({ id: "q", kind: "question", questions: [{ id: "a", question: "A?", options: [{ label: "x" }, { label: "y" }] }, { id: "b", question: "B?", allowOther: true, options: [] }] }, turn);
    expect(manager.typed("TH", "foldcast:i1", "a=2", me())).toEqual({ status: "accepted", message: "Noted. Still open: b.", open: ["b"], command: null });
    expect(manager.typed("TH", "foldcast:i1", "free words", me())).toMatchObject({ status: "accepted" });
    expect(turn.answers).toEqual([{ kind: "question", answers: { a: ["y"], b: ["free words"] } }]);
  });
});

it("an answer to one of an earlier process is told that it has expired, and a store that fails keeps nobody waiting", () => {
  const store = new MemoryInteractionStore();
  store.add({ id: "foldcast:old", threadId: "TH", turnId: "T0", kind: "approval", native: null, createdAt: 0, expiresAt: 1 });
  const manager = new InteractionManager({ log: silentLogger, now: () => 5, store, newId: () => "i1" });
  expect(manager.typed("TH", "foldcast:old", "approve", me())).toMatchObject({ status: "expired", message: "The interaction foldcast:old has expired: the server that asked has ended." });
  store.add = store.settle = () => {
    throw new Error("disk full");
  };
  const turn = new FakeTurn();
  manager.opened(COMMAND, turn);
  manager.typed("TH", "foldcast:i1", "approve", me());
  expect(turn.answers).toEqual([{ kind: "approval", decision: "accept" }]);
});

it("the end of a turn settles what is open without an answer, and without a status of its own", () => {
  const screen = new FakeScreen("a");
  const { manager, turn } = setup(screen);
  manager.opened(COMMAND, turn);
  manager.opened(QUESTION, turn);
  manager.closed("T", "q1");
  manager.turnOver("T");
  manager.turnOver("T");
  expect(screen.of("serverRequest/resolved")).toHaveLength(2);
  expect(turn.log).toEqual(["waiting waitingOnApproval", "waiting waitingOnApproval,waitingOnUserInput", "waiting waitingOnApproval"]);
});

it("any race ends with every interaction settled once and no harness waiting", () => {
  const who = fc.integer({ min: 0, max: 2 });
  const which = fc.integer({ min: 1, max: 4 });
  const move = fc.oneof(
    fc.record({ do: fc.constant("reply" as const), who, which, result: fc.constantFrom<unknown>({ decision: "accept" }, { decision: "decline" }, { decision: "cancel" }, { answers: {} }, { answers: { folder: { answers: ["build"] } } }, 5, {}) }),
    fc.record({ do: fc.constant("error" as const), who, which }),
    fc.record({ do: fc.constant("type" as const), which, value: fc.constantFrom("approve", "deny", "1", "always", "?", "") }),
    fc.record({ do: fc.constant("open" as const), which, question: fc.boolean() }),
    fc.record({ do: fc.constant("harnessCloses" as const), which }),
    fc.record({ do: fc.constant("leave" as const), who }),
    fc.record({ do: fc.constant("join" as const), who }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 700 }) }),
    fc.record({ do: fc.constant("turnOver" as const) }),
  );
  fc.assert(fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
    const screens = ["a", "b", "c"].map((name, at) => new FakeScreen(name, at === 2));
    const { manager, turn, clock } = setup(...screens);
    const answered = new Map<string, number>();
    const open = new Set<string>();
    const homeOf = (requestId: string): InteractionHome => ({
      threadId: turn.threadId, turnId: turn.turnId, turnKey: null, cwd: turn.cwd, item: null, screens: turn.screens, startedBy: null, takesDenyText: true,
      input: () => undefined,
      answer: () => {
        answered.set(requestId, (answered.get(requestId) ?? 0) + 1);
        open.delete(requestId);
      },
      // As the actor does it: the turn is over for the manager at once, and the harness drops what it asked.
      interrupt: () => turnOver(),
      waiting: (flags) => turn.waiting(flags),
    });
    const turnOver = (): void => {
      manager.turnOver(turn.turnId);
      open.clear();
    };
    let opened = 0;
    for (const step of moves) {
      switch (step.do) {
        case "open": {
          const id = `h${(opened += 1)}`;
          open.add(id);
          manager.opened({ ...(step.question ? QUESTION : COMMAND), id }, homeOf(id));
          break;
        }
        case "reply":
          manager.reply(screens[step.who]!, `foldcast:i${step.which}`, { result: step.result });
          break;
        case "error":
          manager.reply(screens[step.who]!, `foldcast:i${step.which}`, METHOD_NOT_FOUND);
          break;
        case "type":
          manager.typed("TH", `foldcast:i${step.which}`, step.value, me());
          break;
        case "harnessCloses":
          open.delete(`h${step.which}`);
          manager.closed("T", `h${step.which}`);
          break;
        case "leave":
          turn.subscribers.delete(screens[step.who]!);
          break;
        case "join":
          turn.subscribers.add(screens[step.who]!);
          manager.replay("TH", screens[step.who]!);
          break;
        case "wait":
          clock.pass(step.ms);
          break;
        case "turnOver":
          turnOver();
      }
      expect(manager.size).toBe(open.size);
    }
    clock.pass(10_000);
    expect([...open]).toEqual([]);
    expect(manager.size).toBe(0);
    expect([...answered.values()].every((count) => count === 1)).toBe(true);
    for (const screen of screens) {
      const resolved = screen.of("serverRequest/resolved").map(({ params }) => params["requestId"]);
      expect(new Set(resolved).size).toBe(resolved.length);
    }
  }), { numRuns: 500 });
});
