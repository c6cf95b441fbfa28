import { expect, test } from "vitest";
import { readEvent } from "./event-mapping.ts";

test.each(["constructor", "__proto__", "toString", "im.message.reaction.created_v1"])("an event of the type %s is another's", (eventType) => {
  const body = { schema: "2.0", header: { event_id: "e", event_type: eventType, create_time: "1700000000000" }, event: { anything: true } };
  expect(readEvent(body, () => Promise.resolve("sent"))).toMatchObject({ type: "other", eventType, eventId: "e", createTimeMs: 1_700_000_000_000 });
});
