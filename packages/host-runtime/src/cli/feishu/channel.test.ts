import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSqlDriver } from "../../store/sqlite-driver.ts";
import { takeApp } from "./channel.ts";

const driver = loadSqlDriver()!;
const folder = (): string => mkdtempSync(join(tmpdir(), "foldcast-feishu-"));

test("one process at a time talks for an app, whatever its data folder; another app, or a stand-in elsewhere, is free", async () => {
  const locks = folder();
  const take = (appId: string, baseUrl?: string, patienceMs = 0) => takeApp(driver, locks, { appId, ...(baseUrl === undefined ? {} : { baseUrl }) }, () => undefined, patienceMs);
  const first = await take("cli_1");
  await expect(take("cli_1")).rejects.toMatchObject({ exitCode: 4, message: expect.stringMatching(new RegExp(`process ${process.pid}.*cli_1.*Stop it first`)) });
  (await take("cli_2"))?.release();
  (await take("cli_1", "http://127.0.0.1:1"))?.release();
  // One that is about to end is waited for.
  const second = take("cli_1", undefined, 3_000);
  first?.release();
  (await second)?.release();
});

test("without a place for the lock the channel goes on, and says so", async () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  const said: string[] = [];
  await expect(takeApp(driver, file, { appId: "cli_1" }, (message) => said.push(message), 0)).resolves.toBeNull();
  expect(said).toEqual([expect.stringContaining("second process")]);
});
