import { expect, test } from "vitest";
import { withoutBlocks } from "./limits.ts";

const after = (frame: string): string => withoutBlocks(Buffer.from(frame)).toString();

test("only what blocks is changed: an id beyond 2^53 and other members stay as they are written", () => {
  const frame = '{"id":9007199254740993, "result":{"ordinaryUsageAllowed":false,"rateLimits":{"spendControlReached":true,"used":1}},"later":1.0}';
  expect(after(frame)).toBe('{"id":9007199254740993, "result":{"ordinaryUsageAllowed":true,"rateLimits":{"spendControlReached":null,"used":1,"rateLimitReachedType":null}},"later":1.0}');
});

test.each([
  '{"method":"account/rateLimits/updated","params":{"ordinaryUsageAllowed":false',
  '{"id":1,"result":{"ordinaryUsageAllowed":false,}}',
  '{"id":1,"result":["ordinaryUsageAllowed",{"ordinaryUsageAllowed":false}]}',
  '{"id":1,"error":{"data":{"ordinaryUsageAllowed":false}}}',
  '"ordinaryUsageAllowed":false',
])("what is no such answer, or no JSON, stays as it is: %s", (frame) => {
  expect(after(frame)).toBe(frame);
});
