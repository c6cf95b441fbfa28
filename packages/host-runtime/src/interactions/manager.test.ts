import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InteractionRequest } from "@foldcast/protocol-core/harness";
import { silentLogger } from "../log/logger.ts";
import { MemoryInteractionStore } from "../store/interactions.ts";
import { InteractionManager } from "./manager.ts";
import type { Answerer } from "./pending.ts";
import type { ChannelIdentity, InteractionHome } from "./policy.ts";
import { COMMAND, FakeScreen, FakeTurn, METHOD_NOT_FOUND, QUESTION, me, setup } from "./testing.ts";

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

describe("a person of a channel", () => {
  const channel: ChannelIdentity = { name: "feishu", approvers: ["boss"] };
  const person = (senderId: string, chatId = "group"): Answerer => ({ client: "bot", channel, sender: { channel: "feishu", chatId, senderId } });
  const press = (manager: InteractionManager, who: Answerer, actionValue = "approve"): string =>
    manager.event({ ...who.sender!, interactionId: "foldcast:i1", actionId: "", actionValue, timestamp: 1, metadata: {} }, who).status;
  const open = () => {
    const made = setup();
    made.turn.startedBy = { channel: "feishu", chatId: "group", senderId: "starter" };
    made.manager.opened(COMMAND, made.turn);
    return made;
  };

  it("may answer who started the turn, and approvers; by button and by text alike", () => {
    for (const who of ["starter", "boss"]) {
      for (const by of ["button", "text"]) {
        const { manager, turn } = open();
        const outcome = by === "button" ? press(manager, person(who)) : manager.typed("TH", "foldcast:i1", "approve", person(who)).status;
        expect([outcome, turn.answers]).toEqual(["accepted", [{ kind: "approval", decision: "accept" }]]);
      }
    }
  });
  it("is refused otherwise, and it stays open", () => {
    const { manager, turn } = open();
    for (const who of [person("other"), person("starter", "another chat"), { ...person("starter"), channel: { name: "slack", approvers: [] } }, { ...person("other"), channel: null }]) {
      expect(press(manager, who)).toBe("refused");
      expect(manager.typed("TH", "foldcast:i1", "approve", who)).toMatchObject({ status: "refused" });
    }
    expect([turn.answers, manager.size]).toEqual([[], 1]);
  });
  it("must be named: what a channel sends without anybody behind it is refused, also as Codex's own reply", () => {
    const bot = new FakeScreen("bot", true, channel);
    const { manager, turn } = setup(bot);
    manager.opened(COMMAND, turn);
    expect(manager.reply(bot, "foldcast:i1", { result: { decision: "accept" } })).toBe(false);
    expect(bot.of("foldcast/interaction/notAccepted")[0]!.params).toMatchObject({ requestId: "foldcast:i1", status: "refused" });
    expect(manager.typed("TH", "foldcast:i1", "approve", { client: "bot", channel, sender: null })).toMatchObject({ status: "refused" });
    expect(manager.size).toBe(1);
  });
  it("is told what became of an answer that comes late, or to nothing, or fits nothing", () => {
    const { manager, turn } = open();
    expect(press(manager, person("starter"), "perhaps")).toBe("invalid");
    expect(press(manager, person("starter"))).toBe("accepted");
    expect([press(manager, person("starter")), press(manager, person("boss"), "deny")]).toEqual(["late", "late"]);
    expect(manager.event({ channel: "feishu", chatId: "group", senderId: "starter", interactionId: "foldcast:none", actionId: "", actionValue: "approve", timestamp: 1, metadata: {} }, person("starter")).status).toBe("unknown");
    expect(turn.answers).toHaveLength(1);
  });
  it("is named in what clients are told of it", () => {
    const curious = new FakeScreen("curious", true);
    const { manager, turn } = setup(curious);
    turn.startedBy = { channel: "feishu", chatId: "group", senderId: "starter" };
    manager.opened(COMMAND, turn);
    press(manager, person("boss"), "deny");
    expect(curious.of("foldcast/interaction/resolved")[0]!.params).toMatchObject({ how: "answered", by: { client: "bot", sender: { channel: "feishu", chatId: "group", senderId: "boss" } }, answer: { decision: "decline" } });
  });
});

describe("what is not on offer", () => {
  it("comes to what is, and the client whose dialog listed it is told", () => {
    const screen = new FakeScreen("tui");
    const { manager, turn } = setup(screen);
    manager.opened({ ...COMMAND, offers: ["accept", "decline"] }, turn);
    manager.reply(screen, "foldcast:i1", { result: { decision: "acceptForSession" } });
    expect(turn.answers).toEqual([{ kind: "approval", decision: "accept" }]);
    expect(screen.of("warning")[0]!.params).toEqual({ threadId: "TH", message: "Approved once: this agent cannot remember an approval." });
  });
});

describe("words with a refusal", () => {
  const deny = (takesDenyText: boolean) => {
    const { manager, turn, clock } = setup();
    turn.takesDenyText = takesDenyText;
    manager.opened(COMMAND, turn);
    return { manager, turn, clock };
  };
  it("are its deny message where the harness takes one, else an input after the answer", () => {
    for (const takes of [true, false]) {
      const { manager, turn } = deny(takes);
      manager.typed("TH", "foldcast:i1", "deny use git clean", me());
      expect(turn.log.filter((line) => !line.startsWith("waiting"))).toEqual(takes ? ["decline"] : ["decline", "then says: use git clean"]);
      expect(turn.answers).toEqual([{ kind: "approval", decision: "decline", ...(takes ? { text: "use git clean" } : {}) }]);
    }
  });
  it("are not made an input where nobody said them", () => {
    const { turn, clock } = deny(false);
    clock.pass(1_000);
    expect(turn.log.filter((line) => !line.startsWith("waiting"))).toEqual(["decline"]);
  });
});

describe("an elicitation", () => {
  const FORM: InteractionRequest = { id: "e1", kind: "elicitation", server: "issues", message: "m", mode: "form", schema: { properties: { name: { type: "string" } }, required: ["name"] } };

  it("takes its own replies, and cancel does not end the turn", () => {
    for (const [reply, answer] of [
      [{ action: "accept", content: { name: "x" } }, { kind: "elicitation", action: "accept", content: { name: "x" } }],
      [{ action: "cancel", content: null }, { kind: "elicitation", action: "cancel" }],
      [{ action: "accept", content: { name: 5 } }, { kind: "elicitation", action: "decline" }],
    ]) {
      const screen = new FakeScreen("a");
      const { manager, turn } = setup(screen);
      manager.opened(FORM, turn);
      expect(screen.asked.method).toBe("mcpServer/elicitation/request");
      manager.reply(screen, "foldcast:i1", { result: reply });
      expect(turn.answers).toEqual([answer]);
      expect(turn.log).not.toContain("interrupt");
    }
  });
  it("that a client says yes to without filling it in waits for another screen; alone it is cancelled, and either is said", () => {
    const [tui, other] = [new FakeScreen("tui"), new FakeScreen("other")];
    const { manager, turn } = setup(tui, other);
    manager.opened(FORM, turn);
    manager.reply(tui, "foldcast:i1", { result: { action: "accept", content: null } });
    expect([manager.size, tui.of("warning")[0]!.params["message"]]).toEqual([1, "This form cannot be filled in here; it waits for another screen."]);
    turn.subscribers.delete(other);
    manager.reply(tui, "foldcast:i1", { result: { action: "accept", content: null } });
    expect([turn.answers, tui.of("warning")[1]!.params["message"]]).toEqual([[{ kind: "elicitation", action: "cancel" }], "This form cannot be filled in here; the agent goes on without it."]);
  });
  it("is declined when it expires", () => {
    const { manager, turn, clock } = setup();
    manager.opened(FORM, turn);
    clock.pass(1_000);
    expect(turn.answers).toEqual([{ kind: "elicitation", action: "decline" }]);
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
  }), { numRuns: 500, seed: 1 });
});
