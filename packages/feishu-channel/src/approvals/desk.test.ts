import type { InteractionPayload } from "@foldcast/protocol-core/interaction";
import { afterEach, describe, expect, it } from "vitest";
import { memoryTable } from "../delivery/testing.ts";
import type { ReaderMessage } from "../fake/index.ts";
import type { PersonIds } from "../platform/port.ts";
import { type PortOnFake, startPortOnFake, until } from "../platform/testing.ts";
import { InteractionDesk } from "./desk.ts";
import { InteractionRow } from "./row.ts";

const worlds: PortOnFake[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

interface Set {
  readonly world: PortOnFake;
  readonly desk: InteractionDesk;
  readonly said: () => readonly ReaderMessage[];
  readonly pressed: unknown[];
  /** What native Codex was answered. */
  readonly answered: unknown[];
  readonly ask: (own: Partial<InteractionPayload>) => void;
  readonly refuse: (...codes: number[]) => void;
}

async function setUp(locale: "en" | "zh" = "en", openIdOf: (ids: PersonIds) => string | null = ({ openId }) => openId): Promise<Set> {
  const world = await startPortOnFake();
  worlds.push(world);
  const { fake, port, chatId, person } = world;
  const pressed: unknown[] = [];
  const answered: unknown[] = [];
  const desk = new InteractionDesk({
    port, table: memoryTable(InteractionRow), locale, approvers: [], log: () => undefined, openIdOf, nameOf: () => Promise.resolve("Ada"),
    clock: { now: () => fake.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20))) },
    answer: (params) => Promise.resolve(void pressed.push(params)).then(() => ({ status: "accepted", message: "", open: [], command: null })),
    respond: (_id, result) => answered.push(result) > 0,
    command: (_text, press) => Promise.resolve(void pressed.push(press)).then(() => "said"),
  });
  await port.start((event) => (event.type === "cardAction" ? desk.click(event) : undefined));
  await until(() => port.connection().state === "connected", "the connection");
  const ask = (own: Partial<InteractionPayload>): void => {
    const payload: InteractionPayload = { interactionId: "r", kind: "approval", title: null, body: "", fields: [], expiresAt: null, actions: [{ id: "approve", label: "Approve", value: "approve", style: "primary" }], ...own };
    desk.ask("r", "foldcast/interaction/opened", { foldcast: { interaction: payload } }, { threadId: "th", place: { chatId, replyTo: null, inThread: false }, startedBy: person, item: null });
  };
  const said = (): readonly ReaderMessage[] => fake.chat({ chatId }).messages.filter(({ sender }) => sender.kind === "app");
  const refuse = (...codes: number[]): void => fake.planFaults({ faults: codes.map((code, index) => ({ id: `${index}`, on: { api: "message.create", nth: index + 1 }, fault: { kind: "refuse", code, msg: "refused" } })) });
  return { world, desk, said, pressed, answered, ask, refuse };
}

describe("what is asked", () => {
  it("comes without mail addresses where Feishu takes none", async () => {
    const { ask, said, refuse } = await setUp();
    refuse(230028);
    ask({ body: "Command: mail ada@mail.example.org" });
    await until(() => said().length > 0, "the card");
    expect(said()[0]!.text).toContain("mail ada[at]mail.example.org");
    expect(said()[0]!.type).toBe("interactive");
  });

  it("comes as text where Feishu takes no card, pings nobody, and its outcome follows", async () => {
    const { ask, desk, said, refuse } = await setUp();
    refuse(200220);
    ask({ body: "Command: echo <at user_id=\"all\"></at>" });
    await until(() => said().length > 0, "the text");
    expect(said()[0]!.type).toBe("text");
    expect(said()[0]!.text).toMatch(/\/_interaction \S+ approve/);
    expect(said()[0]!.text).not.toContain("<at");
    await until(() => {
      desk.resolved("r", "deny", "a terminal");
      return said().length > 1;
    }, "the outcome");
    expect(said()[1]).toMatchObject({ type: "text", text: "Denied · by a terminal", parentId: said()[0]!.messageId });
  });

  it("is in the reader's language where the server's words are English, and the agent's stay", async () => {
    const { ask, said } = await setUp("zh");
    ask({ body: "Command: Fetch\nReason: Approve this" });
    await until(() => said().length > 0, "the card");
    expect(said()[0]!.text).toContain("命令: Fetch\n原因: Approve this");
    expect(said()[0]!.text).toContain("批准");
  });

  it("as a list of commands comes as lines to type where Feishu takes no card", async () => {
    const { world, desk, said, refuse } = await setUp();
    refuse(200220);
    const payload: InteractionPayload = { interactionId: "", kind: "command", title: "Choose", body: "", fields: [], expiresAt: null, actions: [{ id: "c1", label: "1. One", value: "/threads one", style: "default" }] };
    desk.open(payload, { requestId: null, native: null, threadId: "omt_1", place: { chatId: world.chatId, replyTo: null, inThread: false }, startedBy: world.person });
    await until(() => said().length > 0, "the text");
    expect(said()[0]!.text).toBe("Choose\n1. One: /threads one");
  });
});

it("questions of native Codex are answered one by one in text, and given to it together", async () => {
  const { desk, world, said, refuse, answered } = await setUp();
  refuse(200220);
  const question = (id: string, ...labels: string[]): object => ({ id, header: "", question: `${id}?`, isOther: labels.length === 0, isSecret: false, options: labels.length === 0 ? null : labels.map((label) => ({ label, description: "" })) });
  const params = { threadId: "th", turnId: "t", itemId: "i", questions: [question("side", "left", "right"), question("why")], isBlocking: true, autoResolutionMs: null };
  desk.ask(7, "item/tool/requestUserInput", params, { threadId: "th", place: { chatId: world.chatId, replyTo: null, inThread: false }, startedBy: world.person, item: null });
  await until(() => said().length > 0, "the text");
  const key = /\/_interaction (\S+) side=/.exec(said()[0]!.text)![1]!;
  const type = (value: string): Promise<string | null> => desk.typed(key, value, { chatId: world.chatId, openId: world.person, at: 0 });
  expect(await type("side=right")).toBe("Noted; there are more questions");
  expect(answered).toEqual([]);
  expect(await type("why=because")).toBe("Done");
  expect(answered).toEqual([{ answers: { side: { answers: ["right"] }, why: { answers: ["because"] } } }]);
});

it("a card that is settled says so once Feishu is there again, however long it was away", async () => {
  const { ask, desk, world, said } = await setUp();
  ask({ body: "Command: ls" });
  await until(() => said().length > 0, "the card");
  world.fake.planFaults({ faults: Array.from({ length: 12 }, (_, index) => ({ id: `${index}`, on: { api: "message.patch" as const, nth: index + 1 }, fault: { kind: "serverError" as const, status: 502, effect: false } })) });
  desk.resolved("r", "deny", null);
  await until(() => said()[0]!.text.includes("Denied"), "the settled card");
  expect(world.fake.pendingFaults()).toEqual([]);
});

it("a press without an open id is that of the person who is known by another id, a stranger's is refused", async () => {
  const { world, ask, said, pressed } = await setUp("en", () => world.person);
  ask({ body: "Command: ls" });
  await until(() => said().length > 0, "the card");
  const { messageId } = said()[0]!;
  const stranger = world.fake.addPerson({ name: "Eve" }).openId;
  await world.fake.click({ messageId, by: stranger, text: "Approve" });
  expect(pressed).toMatchObject([{ senderId: world.person }]);
  const other = await setUp();
  other.ask({ body: "Command: ls" });
  await until(() => other.said().length > 0, "the card");
  const eve = other.world.fake.addPerson({ name: "Eve" }).openId;
  expect(await other.world.fake.click({ messageId: other.said()[0]!.messageId, by: eve, text: "Approve" })).toMatchObject({ toast: { type: "error" } });
  expect(other.pressed).toEqual([]);
});
