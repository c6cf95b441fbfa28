import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { HarnessInspection } from "@foldcast/protocol-core/harness";
import { InspectionCache } from "./inspection.ts";

const folder = mkdtempSync(join(tmpdir(), "inspection-"));
afterAll(() => rmSync(folder, { recursive: true }));
const MINUTE = 60_000;

it("a program is looked at once, and again when a file of it changes, when it was not ready, and after a while", async () => {
  const clock = { now: 0 };
  const cache = new InspectionCache(() => clock.now);
  const login = join(folder, "login.json");
  let looks = 0;
  const look = (ready: boolean) => (): Promise<HarnessInspection> => Promise.resolve({ ready, reason: null, version: String((looks += 1)), models: [] });
  const version = async (ready = true): Promise<string | null> => (await cache.get([join(folder, "program"), login], look(ready))).version;

  expect([await version(), await version()]).toEqual(["1", "1"]);
  writeFileSync(login, "{}");
  expect(await version(false)).toBe("2");
  expect([await version(), await version()]).toEqual(["3", "3"]);
  utimesSync(login, 1, 1);
  expect(await version()).toBe("4");
  clock.now += 11 * MINUTE;
  expect(await version()).toBe("5");
});
