import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { REPO } from "../repo.ts";
import { countOnStdio, countOnWebSocket, type CountingClient } from "./counting.ts";

/** A server that streams turns; what is asked is a number of deltas. */
export interface StreamingServer {
  /** A client of its own on a WebSocket; the one client there is where the server has standard streams. */
  client(): Promise<CountingClient>;
  /** Members of `thread/start`. */
  readonly model: string;
  /** Resident memory in MiB, the server's process alone. */
  memory(): number;
  stop(): Promise<void>;
}

export type Transport = "ws" | "stdio";

const FOLDCAST = join(REPO, "packages/host-runtime/bin/foldcast.js");
const CODEX = join(REPO, ".cache", `codex-${PROTOCOL_VERSION}`, "node_modules/.bin/codex");
/** About what a model's token is. */
const PIECE = "token ";

/** What a prompt asks for: a message in so many pieces. */
export const promptFor = (deltas: number): string => `stream ${String(deltas)} deltas.`;

/** True where the tests have fetched the pinned Codex program. */
export const hasCodex = (): boolean => existsSync(CODEX);

/** Builds the program once, as it is shipped. */
export function buildFoldcast(): void {
  execFileSync(process.execPath, [join(REPO, "tools/build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
}

/**
 * The built program. Its deltas come from child processes over pipes: each writes the lines of a prepared turn when it is
 * told to begin, which costs it nothing, so that what is measured is the server.
 */
export async function startFoldcast(transport: Transport, sizes: readonly number[], more: readonly string[] = []): Promise<StreamingServer> {
  const folder = mkdtempSync(join(tmpdir(), "foldcast-bench-"));
  const turns = join(folder, "turns");
  mkdirSync(turns);
  for (const deltas of sizes) writeFileSync(join(turns, String(deltas)), turnLines(deltas));
  // It is sent one line a turn: the request to play it, with the prompt's scenario and so the size in it.
  const play = `while read -r line; do n=\${line#*stream }; cat "${turns}/\${n%% deltas*}"; done`;
  const scenario = { schema: 1, name: "stream", turns: sizes.map((deltas) => ({ match: promptFor(deltas), steps: [{ message: promptFor(deltas) }] })) };
  writeFileSync(join(folder, "scenario.json"), JSON.stringify(scenario));
  writeFileSync(join(folder, "config.toml"), `[harness.scripted]\nscenarios = ${JSON.stringify(join(folder, "scenario.json"))}\nprocess = true\nchildCommand = ${JSON.stringify(["/bin/sh", "-c", play])}\n`);
  const env = { ...process.env, HOME: folder, CODEX_HOME: join(folder, ".codex"), FOLDCAST_CONFIG: join(folder, "config.toml"), FOLDCAST_DATA_DIR: join(folder, "data") };
  const args = transport === "ws" ? ["serve", "--port", "0"] : ["app-server"];
  return serve([process.execPath, FOLDCAST, ...args, "--no-native", "--harness", "scripted", ...more], env, transport, folder, "scripted/stream");
}

function turnLines(deltas: number): string {
  const at = 1_790_000_000_000;
  const events = [
    { type: "item.started", item: { kind: "message", id: "m", phase: "final_answer" }, at },
    ...Array.from({ length: deltas }, (_, index) => ({ type: "item.updated", itemId: "m", update: { type: "text", append: piece(index) }, at: at + index })),
    { type: "item.completed", itemId: "m", outcome: { status: "succeeded" }, at },
    { type: "turn.completed", outcome: { status: "succeeded" }, at },
  ];
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

const piece = (index: number): string => `${String(index % 10)}${PIECE.slice(1)}`;

/** The pinned real program, with a model on loopback that streams as many deltas in one message. */
export function startCodex(transport: Transport, sizes: readonly number[]): Promise<StreamingServer> {
  return withModel(sizes, (folder, env) => serve([CODEX, "app-server", ...(transport === "ws" ? ["--listen", "ws://127.0.0.1:0"] : [])], env, transport, folder, CODEX_MODEL));
}

/** The same behind the built foldcast. */
export function startBehind(transport: Transport, sizes: readonly number[]): Promise<StreamingServer> {
  return withModel(sizes, (folder, env) => {
    const args = transport === "ws" ? ["serve", "--port", "0"] : ["app-server"];
    const data = join(folder, "data");
    return serve([process.execPath, FOLDCAST, ...args, "--codex-bin", CODEX, "--harness", "scripted", "--data-dir", data, "--discover", "off"], env, transport, folder, CODEX_MODEL);
  });
}

const CODEX_MODEL = "gpt-5.5";

async function withModel(sizes: readonly number[], start: (folder: string, env: NodeJS.ProcessEnv) => Promise<StreamingServer>): Promise<StreamingServer> {
  const folder = mkdtempSync(join(tmpdir(), "foldcast-bench-codex-"));
  const replies = [...sizes].sort((a, b) => b - a).map((deltas) => ({
    match: { says: promptFor(deltas) }, times: 0,
    blocks: [{ text: Array.from({ length: deltas }, (_, index) => piece(index)).join(""), chunks: deltas }],
  }));
  writeFileSync(join(folder, "scenario.json"), JSON.stringify({ replies }));
  const model = spawn(process.execPath, [...process.execArgv, join(REPO, "tests/model-server/main.ts"), "--scenario", join(folder, "scenario.json")], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstLine(model);
  mkdirSync(join(folder, ".codex"));
  writeFileSync(join(folder, ".codex/config.toml"), [
    `model = "${CODEX_MODEL}"`, 'model_provider = "bench"', "[model_providers.bench]", 'name = "bench"', `base_url = "${url}/v1"`, 'wire_api = "responses"',
    "requires_openai_auth = false", "supports_websockets = false", "",
  ].join("\n"));
  const server = await start(folder, { ...process.env, HOME: folder, CODEX_HOME: join(folder, ".codex") });
  return {
    ...server,
    async stop() {
      await server.stop();
      model.kill();
    },
  };
}

async function serve(command: readonly [string, ...string[]], env: NodeJS.ProcessEnv, transport: Transport, folder: string, model: string): Promise<StreamingServer> {
  let child: ChildProcess;
  let client: () => Promise<CountingClient>;
  if (transport === "stdio") {
    const only = await countOnStdio(command, env, folder);
    child = only.child;
    client = () => Promise.resolve(only);
  } else {
    const [program, ...args] = command;
    child = spawn(program, args, { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    const url = await listeningUrl(child);
    client = () => countOnWebSocket(url);
  }
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const pid = processOf(child.pid!);
  return {
    client,
    model,
    memory: () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1]) / 1024,
    async stop() {
      child.kill("SIGTERM");
      const forced = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(forced);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The npm package starts the real program through a small script of Node; it is there as soon as the server answers. */
function processOf(pid: number): number {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, "utf8").trim().split(" ").filter(Boolean);
  const own = children.find((child) => readFileSync(`/proc/${child}/comm`, "utf8").startsWith("codex"));
  return own === undefined ? pid : Number(own);
}

/** Both servers name their address early: foldcast on stdout, Codex on stderr. */
function listeningUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding("utf8").on("data", (piece: string) => {
        text = (text + piece).slice(-20_000);
        const url = /ws:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
        if (url !== undefined) resolve(url);
      });
    }
    child.once("error", reject);
    child.once("close", () => reject(new Error(`the server did not come up\n${text}`)));
  });
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
    child.once("close", () => reject(new Error("the model server did not come up")));
  });
}
