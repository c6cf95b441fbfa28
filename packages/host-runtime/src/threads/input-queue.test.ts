import { expect, test } from "vitest";
import { InputQueue } from "./input-queue.ts";

const picture = (id: string, units: number) => ({ id, input: [{ type: "image" as const, url: "x".repeat(units) }], clientId: null, metadata: null });
const queue = (): InputQueue => new InputQueue({ threadId: "t", store: null, onChanged: () => undefined });

test("what waits is bounded in number and in size, and there is room again for what was taken", () => {
  const many = queue();
  for (let at = 0; at < 100; at += 1) many.add(picture(String(at), 1));
  expect(() => many.add(picture("one more", 1))).toThrow("too many inputs are waiting");
  many.take();
  many.add(picture("one more", 1));

  const large = queue();
  const quarter = 16 * 1024 * 1024 - 100;
  for (const id of ["a", "b", "c"]) large.add(picture(id, quarter));
  expect(() => large.add(picture("d", quarter + 1_000))).toThrow("too many inputs are waiting");
  expect(() => large.update("c", picture("c", 2 * quarter + 1_000))).toThrow("too many inputs are waiting");
  expect(large.entries.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  large.delete("a");
  large.add(picture("d", quarter + 1_000));
  expect(large.update("d", { clientId: "c" })?.clientId).toBe("c");
});
