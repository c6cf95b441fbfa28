import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLogger } from "./pino-logger.ts";
import { redact, redactText } from "./redact.ts";

const SECRET = "sk-live-1234567890abcdef";

test("members with a telling name and texts with a telling look lose their secret", () => {
  const fields = {
    headers: { Authorization: `Bearer ${SECRET}`, host: "h" },
    apiKey: SECRET,
    nested: [{ ws_token: SECRET }],
    url: `http://h/?token=${SECRET}&x=1`,
    said: `curl -H 'Authorization: Bearer ${SECRET}'`,
    error: new Error(`refused: ${SECRET}`),
    totalTokens: 5,
  };
  expect(JSON.stringify(redact(fields))).not.toContain(SECRET);
  expect(redact(fields)).toMatchObject({ headers: { host: "h" }, totalTokens: 5, url: "http://h/?token=[redacted]&x=1" });
});

test("a field of any shape becomes a small plain value", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  expect(() => JSON.stringify(redact(circular))).not.toThrow();
  expect(redactText("x".repeat(10_000)).length).toBeLessThan(2_100);
  expect(redact([1n, () => 1, null, undefined])).toEqual(["1", expect.any(String), null, undefined]);
});

test("lines written before pino is loaded are not lost, and below the level nothing is written", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "log-")), "host.log");
  const log = createLogger({ level: "info", file });
  log.debug("unseen");
  log.info("first", { token: SECRET });
  log.warn("second");
  await log.flush();
  const lines = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line) as { msg: string; token?: string });
  expect(lines.map(({ msg, token }) => [msg, token])).toEqual([["first", "[redacted]"], ["second", undefined]]);
});
