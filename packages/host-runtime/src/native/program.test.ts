import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { bundledPrograms } from "./places.ts";
import { findCodex, STAND_IN_MARK } from "./program.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "foldcast-program-test-"));
});

function program(...path: string[]): string {
  const file = join(home, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\necho codex-cli 0.0.1\n");
  chmodSync(file, 0o755);
  return file;
}
const around = (env: Record<string, string> = {}) => ({ env, home, platform: "linux" });

test("the search path goes before the usual folders, and of a version manager the newest version first", async () => {
  program(".nvm", "versions", "node", "v9.1.0", "bin", "codex");
  const newest = program(".nvm", "versions", "node", "v22.10.0", "bin", "codex");
  expect(await findCodex(null, around({ PATH: "/nowhere" }))).toBe(newest);
  const local = program(".local", "bin", "codex");
  expect(await findCodex(null, around())).toBe(local);
  const onPath = program("elsewhere", "codex");
  expect(await findCodex(null, around({ PATH: `/nowhere:${dirname(onPath)}` }))).toBe(onPath);
});

test("a stand-in of foldcast is never found, under whatever name or link", async () => {
  const standIn = program("first", "codex");
  writeFileSync(standIn, `#!/bin/sh\n# ${STAND_IN_MARK}\nexit 1\n`);
  mkdirSync(join(home, "second"));
  symlinkSync(standIn, join(home, "second", "codex"));
  // The program that runs now: foldcast itself under the name of codex.
  mkdirSync(join(home, "third"));
  symlinkSync(process.argv[1]!, join(home, "third", "codex"));
  const real = program("fourth", "codex");
  const folders = ["first", "second", "third", "fourth"].map((name) => join(home, name));
  expect(await findCodex(null, around({ PATH: folders.join(":") }))).toBe(real);
  expect(await findCodex(standIn, around())).toBeNull();
});

test("a name or a path decides alone", async () => {
  program(".local", "bin", "codex");
  const nightly = program("bin", "codex-nightly");
  expect(await findCodex("codex-nightly", around({ PATH: dirname(nightly) }))).toBe(nightly);
  expect(await findCodex(nightly, around())).toBe(nightly);
  expect(await findCodex("codex-nightly", around())).toBeNull();
});

test("a folder and a file that may not be run are no program", async () => {
  mkdirSync(join(home, "bin", "codex"), { recursive: true });
  const plain = program(".local", "bin", "codex");
  chmodSync(plain, 0o644);
  expect(await findCodex(null, around({ PATH: join(home, "bin") }))).toBeNull();
});

test("Codex Desktop's own copy comes last, and first where Desktop is the client", async () => {
  const mac = { env: {}, home, platform: "darwin" };
  const bundled = bundledPrograms(mac).find((path) => path.startsWith(home))!;
  program(bundled.slice(home.length + 1));
  expect(await findCodex(null, mac)).toBe(bundled);
  const installed = program(".local", "bin", "codex");
  expect(await findCodex(null, mac)).toBe(installed);
  expect(await findCodex(null, mac, { desktopFirst: true })).toBe(bundled);
});
