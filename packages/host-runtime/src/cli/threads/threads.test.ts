import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listen } from "../../rpc/listen.ts";
import type { Listener } from "../../rpc/listen.ts";
import { connectStdio, startTestHost } from "../../testing/client.ts";
import type { TestHost } from "../../testing/client.ts";
import { runCaptured } from "../../testing/command.ts";
import type { Thread } from "@foldcast/protocol-core/wire";
import { headLines, listLine } from "./show.ts";

let setup: TestHost;
let listener: Listener;
/** Oldest first. */
let ids: string[];
let now: number;

beforeEach(async () => {
  now = 1_700_000_000_000;
  setup = await startTestHost({ now: () => (now += 1_000) });
  listener = await listen({ kind: "tcp", host: "127.0.0.1", port: 0 }, { connect: (transport) => setup.host.connect(transport), token: null });
  ids = [];
  for (const prompts of [["fix the test"], ["write \u001b[31mdocs", "and more"], ["fix the build"]]) ids.push(await talk(prompts, `/w/${ids.length}`));
});
afterEach(async () => {
  await listener.close();
  await setup.host.close();
});

async function talk(prompts: readonly string[], cwd: string): Promise<string> {
  const client = await connectStdio(setup.host).initialize();
  const { thread } = (await client.call("thread/start", { cwd })) as { thread: { id: string } };
  for (const [at, text] of prompts.entries()) {
    await client.call("turn/start", { threadId: thread.id, input: [{ type: "text", text }] });
    await client.turnsCompleted(at + 1);
  }
  return thread.id;
}

const threads = (...args: string[]) => runCaptured(["threads", ...args, "--server", listener.url]);
const listed = async (...args: string[]): Promise<Record<string, unknown>[]> => JSON.parse((await threads("list", "--json", ...args)).stdout) as Record<string, unknown>[];

describe("foldcast threads list", () => {
  test("shows those that changed last first, and nothing that moves a cursor", async () => {
    const { code, stdout, stderr } = await threads("list");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toContain("\u001b");
    expect(stdout.split("\n").slice(1, 4).map((line) => [line.slice(0, 36), line.split("  ").at(-1)])).toEqual([
      [ids[2], "fix the build"], [ids[1], "write  [31mdocs"], [ids[0], "fix the test"],
    ].map(([id, name]): unknown[] => [id, expect.stringContaining(name!.slice(-4))]));
  });

  test("filters by folder and words, and says how to see the rest", async () => {
    expect((await listed("--search", "FIX")).map(({ id }) => id)).toEqual([ids[2], ids[0]]);
    expect((await listed("--cwd", "/w/1")).map(({ id }) => id)).toEqual([ids[1]]);
    expect((await listed("--limit", "2")).map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(await listed("--limit", "0")).toHaveLength(3);
    expect((await threads("list", "--limit", "2")).stderr).toContain("there are more");
    expect((await threads("list", "--limit", "3")).stderr).toBe("");
    expect((await threads("list", "--search", "xyzzy")).stderr).toContain("no thread fits");
    expect((await threads("list", "--archived")).stderr).toBe("no archived thread\n");
  });

  test("says of a session that began without a prompt that it has none", () => {
    const thread = { id: ids[0]!, name: null, preview: " ", cwd: "/w/0", model: null, updatedAt: 0 } as Thread;
    expect([listLine(thread), headLines(thread)[0]]).toEqual([expect.stringMatching(/ {2}\(no prompt\)$/), "(no prompt)"]);
    expect(listLine({ ...thread, name: "Named" })).toMatch(/ {2}Named$/);
  });

  test("as JSON has these members", async () => {
    expect(Object.keys((await listed())[0]!)).toEqual(["id", "name", "preview", "cwd", "model", "status", "path", "createdAt", "updatedAt", "archived"]);
  });
});

describe("foldcast threads show", () => {
  test("prints prompts and final answers, the newest turns when there are many", async () => {
    const { stdout } = await threads("show", ids[1]!);
    expect(stdout).toContain(`thread ${ids[1]!} · `);
    expect(stdout).toMatch(/› write.*docs\necho: [^]*\n\n› and more\necho: and more\n$/);
    const one = await threads("show", ids[1]!, "--limit", "1");
    expect(one.stdout).not.toContain("› write");
    expect(one.stderr).toContain("the newest 1 turns");
  });

  test("as JSON", async () => {
    const shown = JSON.parse((await threads("show", ids[1]!, "--json")).stdout) as { thread: object; turns: object[] };
    expect(shown.thread).toMatchObject({ id: ids[1], cwd: "/w/1" });
    expect(shown.turns).toMatchObject([{ prompt: expect.stringContaining("docs"), status: "completed", items: 2 }, { prompt: "and more", finalAnswer: "echo: and more", fold: { folds: false, reason: "nothingBefore" } }]);
  });
});

describe("the thread that is meant", () => {
  test("is found by a beginning that is no other's", async () => {
    const start = (length: number): string => ids[0]!.slice(0, length);
    const unique = Array.from({ length: 33 }, (_, at) => start(at + 4)).find((each) => ids.filter((id) => id.startsWith(each)).length === 1)!;
    expect((await threads("show", unique)).stdout).toContain(ids[0]!);
    const several = await threads("show", start(6));
    expect(several).toMatchObject({ code: 1, stderr: expect.stringMatching(/several threads begin with [^]*fix the test/) });
    for (const id of ids) expect(several.stderr).toContain(id);
  });

  test("is suggested for a mistyped id and for a name", async () => {
    const mistyped = `${ids[0]!.slice(0, -1)}${ids[0]!.endsWith("0") ? "1" : "0"}`;
    const { code, stderr } = await threads("show", mistyped);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`there is no thread \`${mistyped}\`; did you mean one of these\\?\\n  ${ids[0]!}  fix the test`));
    expect((await threads("show", "build")).stderr).toContain(`${ids[2]!}  fix the build`);
    expect((await threads("show", "nothing like it")).stderr).toContain("foldcast threads list shows them");
  });
});

describe("changes", () => {
  test("a thread is renamed, archived and brought back", async () => {
    expect((await threads("rename", ids[0]!, " The flaky one ")).stdout).toBe(`${ids[0]!} is now: The flaky one\n`);
    expect((await listed("--search", "flaky"))[0]).toMatchObject({ id: ids[0], name: "The flaky one" });
    expect((await threads("archive", ids[0]!, ids[1]!, "--json")).stdout).toBe(`${JSON.stringify({ id: ids[0], archived: true })}\n${JSON.stringify({ id: ids[1], archived: true })}\n`);
    expect((await listed()).map(({ id }) => id)).toEqual([ids[2]]);
    expect((await listed("--archived")).map(({ id, archived }) => [id, archived]).toSorted()).toEqual([[ids[0], true], [ids[1], true]].toSorted());
    expect((await threads("unarchive", ids[0]!)).code).toBe(0);
    expect(await listed()).toHaveLength(2);
  });

  test("one wrong id among several changes nothing", async () => {
    expect((await threads("archive", ids[0]!, "ffffffff")).code).toBe(1);
    expect(await listed()).toHaveLength(3);
  });

  test.each([
    [["rename", "x"], "rename takes a thread and its new name"],
    [["rename", "x", "two", "words"], "put the new name in quotes"],
    [["rename", "x", " "], "at least one letter"],
    [["archive"], "archive takes the id of a thread"],
    [["show", "a", "b"], "`b` is one operand too many"],
    [["shwo"], "did you mean `show`?"],
    [["list", "--limit", "-1"], "--limit is a whole number, 0 = all; got `-1`"],
  ])("%j is wrong usage", async (args, message) => {
    expect(await threads(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});
