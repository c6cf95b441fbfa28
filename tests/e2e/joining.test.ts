import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { DesktopClient } from "../support/desktop-client.ts";
import type { DesktopTurn } from "../support/desktop-turns.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

const bash = (id: string): object => ({ tool: { id, name: "Bash", input: { command: "make" }, map: "qoder" } });
/** Every kind of item is open or just done when the pause comes; a client may join then. */
const pausing = (pause: object): object => ({
  steps: [
    { reasoning: "First." },
    { message: "Before the pause." },
    bash("open"),
    { output: "open", text: "half of the " },
    { edit: { path: "/w/a", before: null, after: "1\n" } },
    { message: "Said and done." },
    pause,
    { output: "open", text: "output\n" },
    { result: { id: "open", output: "half of the output\n", status: "succeeded", exitCode: 0 } },
    { edit: { path: "/w/b", before: null, after: "2\n" } },
    { message: "The answer." },
  ],
  end: "succeeded",
});
const SCENARIOS = {
  paused: {
    schema: 1,
    name: "paused",
    turns: [
      { ...pausing({ delayMs: 500 }), match: "go" },
      // Goes on when its request is answered.
      { ...pausing({ approve: { kind: "tool", title: "Go on?", offers: ["accept", "decline"] } }), match: "hold" },
    ],
  },
  dies: { schema: 1, name: "dies", turns: [{ match: "die", steps: [{ message: "About to go." }, bash("open"), { crash: true }] }, { match: "again", steps: [{ message: "Back again." }] }] },
};

const byId = (turn: DesktopTurn): ThreadItem[] => turn.items.toSorted((a, b) => (a.id < b.id ? -1 : 1));

for (const mode of ["in the server", "in a process of its own"]) {
  describe(`a harness ${mode}`, () => {
    let server: RunningServer;
    beforeAll(async () => {
      server = await startServer({ scenarios: SCENARIOS, speed: 1, args: mode === "in the server" ? [] : ["--scenario-process"] });
    });
    afterAll(async () => {
      await server.stop();
    });

    const paused = (turns: readonly DesktopTurn[] | undefined): Promise<true> =>
      until("the pause", () => (turns?.at(-1)?.items.some((item) => item.type === "agentMessage" && item.text === "Said and done.") === true ? true : undefined), { timeoutMs: 60_000, everyMs: 5 });
    const letGo = async ({ wire }: PlainClient | DesktopClient): Promise<void> => {
      const { id } = await until("the request", () => wire.requests.at(-1), { everyMs: 5 });
      wire.respond(id, { answers: { approval: { answers: ["Approve"] } } });
    };

    test("whoever joins a running turn ends with the state of whoever was there from the start", async () => {
      await using first = await PlainClient.connect(server.url);
      await using desktop = await DesktopClient.connect(server.url);
      const thread = await first.start({ model: "scripted/paused", cwd: "/w" });
      const turnId = await first.submit(thread.id, "hold");
      await paused(first.threads.get(thread.id));
      await using later = await PlainClient.connect(server.url);
      await using desktopLater = await DesktopClient.connect(server.url);
      await later.join(thread.id);
      await desktopLater.open(thread.id);
      await letGo(first);
      const [live, joined] = await Promise.all([first.ended(thread.id, turnId), later.ended(thread.id, turnId)]);
      expect(live.status).toBe("completed");
      // As from the real server, it gets the open items when they complete: the same ones, the open ones last.
      expect(byId(joined)).toEqual(byId(live));
      expect([...later.completions.values()].every((times) => times === 1)).toBe(true);
      await until("Desktop's end", () => (desktopLater.threads.get(thread.id)?.[0]?.status === "completed" ? true : undefined));
      const [opened] = await desktop.open(thread.id);
      expect(desktopLater.threads.get(thread.id)?.[0]?.items).toEqual(opened?.items);
    });

    test("a steer joins the turn, and one that names another turn says which one runs", async () => {
      await using desktop = await DesktopClient.connect(server.url);
      const threadId = await desktop.prewarm("/w", "scripted/paused");
      await expect(desktop.steer(threadId, "x", threadId)).rejects.toThrow("no active turn to steer");
      const turn = await desktop.submit(threadId, "hold");
      await paused(desktop.threads.get(threadId));
      await expect(desktop.steer(threadId, "x", threadId)).rejects.toThrow(`expected active turn id \`${threadId}\` but found \`${turn.id}\``);
      await desktop.steer(threadId, "and mind the edges", turn.id ?? "");
      await letGo(desktop);
      await until("the turn's end", () => (turn.status === "inProgress" ? undefined : true), { timeoutMs: 60_000 });
      const said = turn.items.flatMap((item) => (item.type === "userMessage" ? item.content.map((part) => (part.type === "text" ? part.text : "")) : []));
      expect(said).toEqual(["hold", "and mind the edges"]);
      const [opened] = await desktop.open(threadId);
      expect(opened?.items).toEqual(turn.items);
    });

    test("an interrupt ends the turn once, and the next one runs", async () => {
      await using plain = await PlainClient.connect(server.url);
      const thread = await plain.start({ model: "scripted/paused", cwd: "/w" });
      const turnId = await plain.submit(thread.id, "hold");
      await paused(plain.threads.get(thread.id));
      await expect(plain.wire.request("turn/interrupt", { threadId: thread.id, turnId: thread.id })).rejects.toThrow(`expected active turn id ${thread.id} but found ${turnId}`);
      await plain.wire.request("turn/interrupt", { threadId: thread.id, turnId });
      const turn = await plain.ended(thread.id, turnId);
      expect(turn.status).toBe("interrupted");
      expect(turn.items.at(-1)).toMatchObject({ text: "Said and done.", phase: "commentary" });
      await expect(plain.wire.request("turn/interrupt", { threadId: thread.id, turnId })).rejects.toThrow("no active turn to interrupt");
      expect((await plain.prompt(thread.id, "go")).status).toBe("completed");
      expect(plain.wire.notifications.filter((frame) => frame.method === "turn/completed")).toHaveLength(2);
      expect((await plain.read(thread.id)).turns.map((one) => one.items)).toEqual(plain.threads.get(thread.id)?.map((one) => one.items));
    });

    test("a crash fails its own turn; another thread goes on, and so does this one", async () => {
      await using plain = await PlainClient.connect(server.url);
      const other = await plain.start({ model: "scripted/paused", cwd: "/w" });
      const otherTurn = await plain.submit(other.id, "go");
      const thread = await plain.start({ model: "scripted/dies", cwd: "/w" });
      const died = await plain.prompt(thread.id, "die");
      expect(died.status).toBe("failed");
      expect(died.error?.message).toBeTruthy();
      expect(died.items.map((item) => ("status" in item ? item.status : item.type))).toEqual(["userMessage", "agentMessage", "failed"]);
      expect((await plain.prompt(thread.id, "again")).items.at(-1)).toMatchObject({ text: "Back again.", phase: "final_answer" });
      expect((await plain.ended(other.id, otherTurn)).status).toBe("completed");
      expect((await plain.read(thread.id)).turns.map((turn) => [turn.status, turn.items])).toEqual(plain.threads.get(thread.id)?.map((turn) => [turn.status, turn.items]));
    });
  });
}
