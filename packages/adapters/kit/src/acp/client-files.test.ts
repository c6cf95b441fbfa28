import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientFiles } from "./client-files.ts";

let folder: string;
let inside: string;
let outside: string;
let files: ClientFiles;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "acp-files-"));
  inside = join(folder, "work");
  outside = join(folder, "work-of-others");
  for (const each of [inside, outside]) mkdirSync(each);
  writeFileSync(join(inside, "a.txt"), "1\n2\n3\n4");
  writeFileSync(join(outside, "secret.txt"), "secret");
  symlinkSync(outside, join(inside, "link"));
  symlinkSync(inside, join(folder, "work-link"));
  files = new ClientFiles([inside]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("files that an agent reads and writes through its client", () => {
  it("are read whole or by lines", async () => {
    const path = join(inside, "a.txt");
    expect(await files.read({ path })).toEqual({ content: "1\n2\n3\n4" });
    expect(await files.read({ path, line: 2, limit: 2 })).toEqual({ content: "2\n3" });
    expect(await files.read({ path, line: 4 })).toEqual({ content: "4" });
    expect(await files.read({ path, line: 0, limit: 1 })).toEqual({ content: "1" });
    expect(await files.read({ path, line: 9 })).toEqual({ content: "" });
  });

  it("are written, in folders that are not there yet too", async () => {
    const path = join(inside, "new", "deep", "b.txt");
    expect(await files.write({ path, content: "b" })).toEqual({});
    expect(readFileSync(path, "utf8")).toBe("b");
    await expect(files.write({ path })).rejects.toThrow("no content");
  });

  it("are only those of the session's folder, wherever a link leads", async () => {
    for (const path of [join(outside, "secret.txt"), join(inside, "..", "work-of-others", "secret.txt"), join(inside, "link", "secret.txt"), join(inside, "link", "new.txt")]) {
      await expect(files.read({ path }), path).rejects.toThrow("outside");
      await expect(files.write({ path, content: "x" }), path).rejects.toThrow("outside");
    }
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
    expect(await new ClientFiles([join(folder, "work-link")]).read({ path: join(inside, "a.txt"), limit: 1 })).toEqual({ content: "1" });
    await expect(files.read({ path: "a.txt" })).rejects.toThrow("absolute");
    await expect(files.read({})).rejects.toThrow("absolute");
  });

  it("that are missing are said to be", async () => {
    await expect(files.read({ path: join(inside, "none.txt") })).rejects.toThrow("ENOENT");
  });
});
