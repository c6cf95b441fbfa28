import { afterEach, describe, expect, it } from "vitest";
import type { Outcome } from "./outcome.ts";
import { startPortOnFake, until, valueOf, type PortOnFake } from "./testing.ts";

let world: PortOnFake | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const card = (text: string, extra: object = {}) => ({ schema: "2.0" as const, config: { update_multi: true, ...extra }, body: { elements: [{ tag: "markdown", element_id: "answer", content: text }] } });
const refusal = (outcome: Outcome<unknown>) => (outcome.kind === "refused" ? { kind: outcome.refusal.kind, code: outcome.refusal.code } : outcome);

describe("the port on the real SDK, against the fake", () => {
  it("makes, sends, streams and closes a card, and reads it back as the reader has it", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId } = world;
    const { cardId } = valueOf(await port.createCard(card("…", { streaming_mode: true })));
    const sent = valueOf(await port.sendMessage({ to: { chatId }, body: { type: "cardEntity", cardId }, uuid: "turn-1" }));
    expect(valueOf(await port.sendMessage({ to: { chatId }, body: { type: "cardEntity", cardId }, uuid: "turn-1" })).messageId).toBe(sent.messageId);
    valueOf(await port.updateElementContent({ cardId, sequence: 1, elementId: "answer", content: "Hello" }));
    valueOf(await port.batchUpdate({ cardId, sequence: 2, actions: [{ action: "add_elements", params: { type: "insert_before", target_element_id: "answer", elements: [{ tag: "hr", element_id: "line" }] } }] }));
    valueOf(await port.setCardSettings({ cardId, sequence: 3, streaming: false, summary: "Hello" }));
    expect(refusal(await port.updateElementContent({ cardId, sequence: 4, elementId: "answer", content: "late" }))).toEqual({ kind: "streamingClosed", code: 300309 });
    expect(refusal(await port.updateCard({ cardId, sequence: 3, card: card("again") }))).toEqual({ kind: "sequence", code: 300317 });
    const [shown] = fake.chat({ chatId }).messages;
    expect(shown).toMatchObject({ text: "Hello", card: { streaming: false, summary: "Hello", lastSequence: 3 } });
    const record = valueOf(await port.getMessage(sent.messageId));
    expect(record).toMatchObject({ senderKind: "app", senderId: fake.app.appId, deleted: false });
    expect(JSON.parse(record.content)).toMatchObject({ schema: "2.0" });
    expect(fake.broken().map(({ rule }) => rule)).toEqual(["card.streamingClosed", "card.sequence"]);
  });

  it("tells no chat the app's own secrets, and nothing that nobody can read", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId } = world;
    const told = `the secret is ${fake.app.appSecret}, half a sign \ud83d and \u0000\u001b`;
    const { cardId } = valueOf(await port.createCard(card(told, { streaming_mode: true })));
    valueOf(await port.sendMessage({ to: { chatId }, body: { type: "cardEntity", cardId } }));
    valueOf(await port.updateElementContent({ cardId, sequence: 1, elementId: "answer", content: `${told}.` }));
    valueOf(await port.sendMessage({ to: { chatId }, body: { type: "text", text: told } }));
    const shown = fake.chat({ chatId }).messages.map(({ text }) => text);
    expect(shown).toEqual(["the secret is ‹hidden›, half a sign  and .", "the secret is ‹hidden›, half a sign  and "]);
  });

  it("hears a message, answers a click in time and sees the card replaced", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId, person, events } = world;
    const answers: string[] = [];
    await port.start(async (event) => {
      events.push(event);
      if (event.type === "cardAction") answers.push(await event.respond({ toast: { type: "success", content: "done" }, card: card("decided") }));
    });
    await until(() => port.connection().state === "connected", "the connection");
    fake.say({ chatId, from: person, text: "hi there", mention: true });
    await until(() => events.length === 1, "the message");
    expect(events[0]).toMatchObject({ type: "message", chatType: "group", sender: { openId: person, kind: "user" }, mentions: [{ key: "@_user_1", openId: fake.app.botOpenId }] });
    const button = { tag: "button", element_id: "yes", text: { tag: "plain_text", content: "Yes" }, behaviors: [{ type: "callback", value: { interaction_id: "i", action_id: "a", action_value: "approve" } }] };
    const { messageId } = valueOf(await port.sendMessage({ to: { chatId }, body: { type: "card", card: { ...card("?"), body: { elements: [button] } } as never } }));
    const result = await fake.click({ messageId, by: person, elementId: "yes" });
    expect(result).toMatchObject({ outcome: "answered", toast: { type: "success", content: "done" }, cardReplaced: true });
    expect(answers).toEqual(["sent"]);
    expect(events[1]).toMatchObject({ type: "cardAction", messageId, chatId, operator: { openId: person }, action: { tag: "button", value: { action_value: "approve" } } });
    expect(fake.message({ messageId }).text).toBe("decided");
    expect(fake.deliveries()).toMatchObject([{ pushes: 1, acknowledged: true }]);
    expect(fake.broken()).toEqual([]);
  });
});
