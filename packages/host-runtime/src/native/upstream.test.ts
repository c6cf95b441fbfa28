import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLogger } from "../log/logger.ts";
import { schedule } from "../schedule.ts";
import type { Link } from "./link.ts";
import { Upstream } from "./upstream.ts";

/** Listens as the real program does, notes its own process and socket, and has a child of its own. */
const PROGRAM = `#!${process.execPath}
const { createServer } = require("node:http");
const { spawn } = require("node:child_process");
const { appendFileSync } = require("node:fs");
const socket = process.argv.at(-1).replace("unix://", "");
const child = spawn("sleep", ["1000"], { stdio: "ignore" });
appendFileSync(process.env.NOTES, JSON.stringify({ pid: process.pid, child: child.pid, socket, args: process.argv.slice(2, -1) }) + "\\n");
if (process.env.FAILS) { process.stderr.write("first\\n\\u001b[31mError: bad config\\u001b[0m\\n"); process.exit(1); }
if (process.env.STUBBORN) process.on("SIGTERM", () => undefined);
const server = createServer().listen(socket);
const { createHash } = require("node:crypto");
if (!process.env.HANGS) server.on("upgrade", (request, raw) => {
  raw.on("error", () => undefined);
  const accept = createHash("sha1").update(request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
  raw.write("HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Accept: " + accept + "\\r\\n\\r\\n");
  appendFileSync(process.env.NOTES + ".signs", "x");
});
`;

interface Note {
  pid: number;
  child: number;
  socket: string;
  args: string[];
}

let dir: string;
let upstream: Upstream | null = null;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "foldcast-upstream-"));
  writeFileSync(join(dir, "codex"), PROGRAM);
  chmodSync(join(dir, "codex"), 0o755);
});
afterEach(async () => {
  await upstream?.close();
  upstream = null;
  rmSync(dir, { recursive: true, force: true });
});

function start(env: Record<string, string> = {}, folder = dir, signEveryMs = 60_000): Upstream {
  upstream = new Upstream({
    program: join(dir, "codex"), args: ["-c", "a=b", "app-server"], env: { PATH: process.env["PATH"], NOTES: join(dir, "notes"), ...env }, dir: folder, log: silentLogger, schedule, signEveryMs,
  });
  upstream.start();
  return upstream;
}

/** What is written whole. */
function notes(): Note[] {
  const text = existsSync(join(dir, "notes")) ? readFileSync(join(dir, "notes"), "utf8") : "";
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line) as Note);
}

async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await delay(10);
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that only waits to be reaped by whoever adopted it is no process any more.
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${String(pid)}/stat`, "utf8"));
  } catch {
    return false;
  }
}

const gone = (note: Note): Promise<boolean> => until(() => !lives(note.pid) && !lives(note.child) && !existsSync(dirname(note.socket)));

test("a folder for temporary files whose path is too long for a socket keeps nobody from starting", async () => {
  start({}, join(dir, "x".repeat(80)));
  const [note] = await until(() => (upstream!.isUp ? notes() : undefined));
  expect(note!.socket.length).toBeLessThan(100);
  expect(statSync(dirname(note!.socket)).mode & 0o777).toBe(0o700);
});

test("it is started with its arguments on a socket that nobody else can reach, and ends with all that it started", async () => {
  const up = start();
  await until(() => up.isUp);
  const [note] = notes();
  expect(note!.args).toEqual(["-c", "a=b", "app-server", "--listen"]);
  expect(note!.pid).toBe(up.pid);
  expect(statSync(dirname(note!.socket)).mode & 0o777).toBe(0o700);
  await up.close();
  await gone(note!);
});

test("one that does not end when it is asked is killed", async () => {
  const up = start({ STUBBORN: "1" });
  await until(() => up.isUp);
  const [note] = notes();
  await up.close();
  await gone(note!);
});

test("killed, it is there again after a while", async () => {
  const up = start();
  await until(() => up.isUp);
  process.kill(up.pid!, "SIGKILL");
  await until(() => notes().length === 2 && up.isUp);
  const [first, second] = notes();
  await gone(first!);
  expect(lives(second!.pid)).toBe(true);
});

test("one that lives and lets nobody in is killed and started again, one that serves is left alone", async () => {
  start({ HANGS: "1" }, dir, 20);
  const [first, second] = await until(() => (notes().length >= 2 ? notes() : undefined));
  await gone(first!);
  expect(second!.pid).not.toBe(first!.pid);
  await upstream!.close();
  rmSync(join(dir, "notes"));

  start({}, dir, 400);
  await until(() => existsSync(join(dir, "notes.signs")) && statSync(join(dir, "notes.signs")).size >= 7);
  expect(notes()).toHaveLength(1);
  expect(upstream!.isUp).toBe(true);
});

describe("one whose socket file was removed by somebody", () => {
  /** Resolves when it is open. */
  const enter = (up: Upstream): Promise<{ link: Link; over: Promise<string> }> => new Promise((resolve, reject) => {
    const over = new Promise<string>((end) => {
      const link = up.connect({ opened: () => resolve({ link, over }), frame: () => undefined, closed: (reason) => (reject(new Error(reason)), end(reason)), mayRest: () => false });
    });
  });

  test("stays for whoever is connected, who comes next gets another one, and it ends with its last client", async () => {
    const up = start();
    const inside = await enter(up);
    const [first] = notes();
    rmSync(dirname(first!.socket), { recursive: true });
    const late = await enter(up);
    const second = notes()[1]!;
    expect([lives(first!.pid), lives(second.pid), up.pid]).toEqual([true, true, second.pid]);
    inside.link.close();
    await gone(first!);
    late.link.close();
    expect(lives(second.pid)).toBe(true);
    const last = await enter(up);
    expect(notes()).toHaveLength(2);
    // Both end with their owner.
    rmSync(second.socket);
    await enter(up);
    await up.close();
    await last.over;
    for (const note of notes()) await gone(note);
  });

  test("is found out without a client, and replaced", async () => {
    const up = start({}, dir, 20);
    const [first] = await until(() => (up.isUp ? notes() : undefined));
    rmSync(first!.socket);
    await gone(first!);
    await until(() => notes().length === 2 && up.isUp);
  });

  test("is spared by whoever goes by the age of files", async () => {
    const up = start({}, dir, 20);
    const [note] = await until(() => (up.isUp ? notes() : undefined));
    utimesSync(note!.socket, 1, 1);
    await until(() => statSync(note!.socket).atimeMs > 1_000_000 && statSync(note!.socket).mtimeMs > 1_000_000);
  });
});

test("one that cannot start says why to whoever waits for it, at once and in its last words", async () => {
  const up = start({ FAILS: "1" });
  const reason = (): Promise<string> => new Promise((resolve) => up.connect({ opened: () => undefined, frame: () => undefined, closed: resolve, mayRest: () => false }));
  expect(await reason()).toBe("Codex cannot be started: Error: bad config");
  expect(await reason()).toBe("Codex cannot be started: Error: bad config");
});

test("a program that is not there is a reason like another", async () => {
  rmSync(join(dir, "codex"));
  const up = start();
  const reason = await new Promise<string>((resolve) => up.connect({ opened: () => undefined, frame: () => undefined, closed: resolve, mayRest: () => false }));
  expect(reason).toMatch(/^Codex cannot be started: .*(not found|No such file)/);
});

test("a killed owner leaves neither program nor socket behind", async () => {
  const script = join(dir, "owner.ts");
  writeFileSync(script, `
    import type { Link } from "./link.ts";
import { Upstream } from ${JSON.stringify(join(import.meta.dirname, "upstream.ts"))};
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const schedule = (ms, work) => { const timer = setTimeout(work, ms); return () => clearTimeout(timer); };
    const up = new Upstream({ program: ${JSON.stringify(join(dir, "codex"))}, args: [], env: process.env, dir: ${JSON.stringify(dir)}, log, schedule });
    up.start();
    setInterval(() => { if (up.isUp) process.kill(process.pid, "SIGKILL"); }, 5);
  `);
  const owner = spawn(process.execPath, ["--conditions=@foldcast/source", "--import", "tsx", script], {
    cwd: import.meta.dirname, env: { PATH: process.env["PATH"], NOTES: join(dir, "notes") }, stdio: ["ignore", "ignore", "inherit"],
  });
  const signal = await new Promise((resolve) => owner.once("exit", (_code, by) => resolve(by)));
  expect(signal).toBe("SIGKILL");
  const [note] = notes();
  await gone(note!);
});
