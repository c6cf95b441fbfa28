import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DiskSync } from "./disk-sync.ts";

const folder = (): string => mkdtempSync(join(tmpdir(), "foldcast-sync-"));

test("syncs a file that is there, and ends with what is left", async () => {
  const file = join(folder(), "wal");
  writeFileSync(file, "x");
  const said: string[] = [];
  const sync = new DiskSync(file, (reason) => said.push(reason));
  sync.soon();
  sync.soon();
  await sync.close();
  await sync.close();
  expect(said).toEqual([]);
});

test("says once that it cannot", async () => {
  const said: string[] = [];
  const sync = new DiskSync(join(folder(), "none"), (reason) => said.push(reason));
  sync.soon();
  await sync.close();
  sync.soon();
  await sync.close();
  expect(said).toEqual([expect.stringContaining("ENOENT")]);
});
