import { isJsonObject } from "@foldcast/protocol-core/wire";
import { FrameRecorder } from "../recording.ts";
import type { WireSchema } from "../schema.ts";
import { webSocket, type Transport } from "../transport.ts";
import { until } from "../wait.ts";
import { alignNames, isSame, renamed, stabilised } from "./compare.ts";
import type { RecordedLine, Recording } from "./read.ts";

type Frame = Readonly<Record<string, unknown>>;

/** What became of one recorded answer. `detail` says how ours differs. */
export interface Outcome {
  recording: string;
  method: string;
  result: "equal" | "valid" | "invalid" | "refused" | "unanswered";
  detail: string;
}
export interface ReplayResult {
  outcomes: Outcome[];
  /** Notifications and requests of the server: method → whether one of ours equals a recorded one. */
  sent: Map<string, { recorded: number; ours: number; equal: boolean }>;
}

export interface ReplayOptions {
  url: string;
  /** Null = ours are not checked against it here. */
  schema: WireSchema | null;
  defaultModel: string;
  /** Ids of threads that were there before, by what the recording calls them. */
  names: Map<string, string>;
}

const PATIENCE_MS = 60_000;
/** For what a stand-in of the server sent by itself: it need not come. */
const STAND_IN_PATIENCE_MS = 5_000;
/** Events that a client waits for before it goes on. */
const GATES = new Set(["turn/started", "turn/completed"]);

/** Plays the recorded client side against a server, in the recorded order: it waits where the client had to wait. */
export async function replay(recording: Recording, options: ReplayOptions): Promise<ReplayResult> {
  const result: ReplayResult = { outcomes: [], sent: new Map() };
  const clients = new Map<string, ReplayClient>();
  const refused = refusedIds(recording);
  try {
    for (const line of recording.lines) {
      let client = clients.get(line.conn);
      if (client === undefined) clients.set(line.conn, (client = await ReplayClient.connect(recording, options, result, refused)));
      if (line.dir === "close") await client.close();
      else if (line.dir === "c2s") client.send(line.msg);
      else await client.follow(line.msg as Frame);
    }
  } finally {
    for (const client of clients.values()) await client.close();
  }
  countEqual(recording, [...clients.values()], result);
  return result;
}

/** Ids that the real server did not know: they stay as they are. */
function refusedIds(recording: Recording): Set<string> {
  return new Set(unknownThreads(recording).refused);
}

/** Threads that the recording names without having started them: those that its server had, and those that it had not. */
export function unknownThreads({ lines }: Recording): { known: string[]; refused: string[] } {
  const made = new Set<string>();
  const asked = new Map<string, string>();
  const known = new Set<string>();
  const refused = new Set<string>();
  for (const { conn, dir, msg } of lines) {
    if (!isJsonObject(msg)) continue;
    const key = `${conn} ${JSON.stringify(msg["id"])}`;
    const { params, result } = msg;
    if (dir === "c2s" && isJsonObject(params) && typeof params["threadId"] === "string") asked.set(key, params["threadId"]);
    if (dir !== "s2c" || "method" in msg) continue;
    const thread = isJsonObject(result) ? result["thread"] : undefined;
    const id = asked.get(key);
    if (id === undefined && isJsonObject(thread)) made.add(thread["id"] as string);
    if (id !== undefined && isJsonObject(thread) && thread["id"] !== id) made.add(thread["id"] as string);
    if (id === undefined || made.has(id)) continue;
    if ("error" in msg || (isJsonObject(result) && result["status"] === "notLoaded")) refused.add(id);
    else known.add(id);
  }
  return { known: [...known], refused: [...refused].filter((id) => !known.has(id)) };
}

class ReplayClient {
  readonly received: Frame[] = [];
  readonly #transport: Transport;
  readonly #recorder: FrameRecorder;
  readonly #recording: Recording;
  readonly #options: ReplayOptions;
  readonly #result: ReplayResult;
  readonly #refused: ReadonlySet<string>;
  readonly #asked = new Map<string, string>();
  readonly #taken = new Set<Frame>();
  /** Requests of the server: the recorded id → ours. */
  readonly #requestIds = new Map<unknown, unknown>();
  readonly #gates = new Map<string, number>();
  #open = true;

  private constructor(transport: Transport, recording: Recording, options: ReplayOptions, result: ReplayResult, refused: ReadonlySet<string>) {
    this.#transport = transport;
    this.#recording = recording;
    this.#options = options;
    this.#result = result;
    this.#refused = refused;
    this.#recorder = FrameRecorder.forTest(recording.name);
    transport.listen((text) => {
      const frame = JSON.parse(text) as Frame;
      this.#recorder.record("s2c", frame);
      this.received.push(frame);
    }, () => (this.#open = false));
  }

  static async connect(recording: Recording, options: ReplayOptions, result: ReplayResult, refused: ReadonlySet<string>): Promise<ReplayClient> {
    return new ReplayClient(await webSocket(options.url), recording, options, result, refused);
  }

  send(msg: unknown): void {
    if (isJsonObject(msg) && typeof msg["$raw"] === "string") return this.#transport.send(msg["$raw"]);
    let frame = this.#named(msg);
    if (isJsonObject(frame)) {
      if (typeof frame["method"] === "string") this.#asked.set(JSON.stringify(frame["id"]), frame["method"]);
      else frame = { ...frame, id: this.#requestIds.get(frame["id"]) ?? frame["id"] };
    }
    this.#recorder.record("c2s", frame);
    this.#transport.send(JSON.stringify(frame));
  }

  /** Waits for what the recorded client had got by here, and judges it. */
  async follow(recorded: Frame): Promise<void> {
    const { method } = recorded;
    if (typeof method === "string") {
      const patienceMs = this.#recording.standIn ? STAND_IN_PATIENCE_MS : PATIENCE_MS;
      if ("id" in recorded) {
        const at = this.#requestIds.size;
        const ours = await this.#wait(() => this.received.filter((frame) => "id" in frame && "method" in frame)[at], patienceMs);
        if (ours !== undefined) this.#requestIds.set(recorded["id"], ours["id"]);
        else if (!this.#recording.standIn) this.#add(`${method} (awaited)`, "unanswered", `did not come; ${JSON.stringify(recorded).slice(0, 200)}`);
      } else if (GATES.has(method)) {
        const count = (this.#gates.get(method) ?? 0) + 1;
        this.#gates.set(method, count);
        const nth = await this.#wait(() => this.received.filter((frame) => frame["method"] === method)[count - 1], patienceMs);
        if (nth !== undefined) alignNames(recorded["params"], nth["params"], this.#options.names);
        else this.#add(`${method} (awaited)`, "unanswered", `did not come; ${JSON.stringify(recorded).slice(0, 200)}`);
      }
      return;
    }
    const asked = this.#asked.get(JSON.stringify(recorded["id"]));
    if (asked === undefined) return;
    const ours = await this.#wait(() => this.received.find((frame) => !("method" in frame) && frame["id"] === recorded["id"] && !this.#taken.has(frame)));
    if (ours === undefined) return this.#add(asked, "unanswered", "no answer came");
    this.#taken.add(ours);
    this.#judge(asked, recorded, ours);
  }

  async close(): Promise<void> {
    if (this.#open) await this.#transport.close();
    this.#recorder.flush();
  }

  #judge(method: string, recorded: Frame, ours: Frame): void {
    if ("error" in ours) {
      if (isSame(stabilised(renamed(recorded["error"], this.#options.names)), stabilised(ours["error"]))) return this.#add(method, "equal", "");
      const said = JSON.stringify(ours["error"]);
      return "error" in recorded && !this.#recording.standIn ? this.#add(method, "valid", `another refusal: ${said}`) : this.#add(method, "refused", said);
    }
    alignNames(recorded["result"], ours["result"], this.#options.names);
    const faults = this.#options.schema?.faults("response", method, ours, false) ?? [];
    if (faults.length > 0) return this.#add(method, "invalid", faults.join("; "));
    const same = isSame(stabilised(recorded["result"]), stabilised(ours["result"]));
    this.#add(method, same ? "equal" : "valid", "error" in recorded ? "answered where the recorded server refused" : "");
  }

  #add(method: string, result: Outcome["result"], detail: string): void {
    this.#result.outcomes.push({ recording: this.#recording.name, method, result, detail });
  }

  async #wait(look: () => Frame | undefined, timeoutMs = PATIENCE_MS): Promise<Frame | undefined> {
    return until("a frame", () => look() ?? (this.#open ? undefined : { gone: true }), { timeoutMs, everyMs: 5 }).then(
      (frame) => ("gone" in frame ? undefined : frame),
      () => undefined,
    );
  }

  /** The recorded frame with our ids in it, and with a model that there is. */
  #named(msg: unknown): unknown {
    const { names, defaultModel } = this.#options;
    const usable = new Map([...names].filter(([name]) => !this.#refused.has(name)));
    const frame = renamed(msg, usable);
    if (!isJsonObject(frame) || !isJsonObject(frame["params"])) return frame;
    // Its own id is the client's to choose.
    const params = this.#withRevision(withModel(frame["params"], defaultModel));
    return { ...frame, ...(isJsonObject(msg) && "id" in msg ? { id: msg["id"] } : {}), params };
  }

  /** A client names the last revision that it was told, which the recording has under another name. */
  #withRevision(params: Frame): Frame {
    if (!("expectedRevision" in params)) return params;
    const told = this.received.findLast(({ method, params: news }) => method === "thread/readState/changed" && isJsonObject(news) && news["threadId"] === params["threadId"]);
    return { ...params, expectedRevision: (told?.["params"] as { readState: { revision: string } } | undefined)?.readState.revision ?? params["expectedRevision"] };
  }
}

function withModel(params: Readonly<Record<string, unknown>>, model: string): Frame {
  const settings = isJsonObject(params["collaborationMode"]) ? params["collaborationMode"] : null;
  const inner = settings !== null && isJsonObject(settings["settings"]) ? settings["settings"] : null;
  return {
    ...params,
    ...(typeof params["model"] === "string" ? { model } : {}),
    ...(inner === null ? {} : { collaborationMode: { ...settings, settings: { ...inner, model } } }),
  };
}

function countEqual(recording: Recording, clients: readonly ReplayClient[], result: ReplayResult): void {
  if (recording.standIn) return;
  const shapes = new Map<string, unknown[]>();
  const entry = (method: string): { recorded: number; ours: number; equal: boolean } => {
    const known = result.sent.get(method) ?? { recorded: 0, ours: 0, equal: false };
    result.sent.set(method, known);
    return known;
  };
  const isSent = (frame: unknown): frame is Frame & { method: string } => isJsonObject(frame) && typeof frame["method"] === "string";
  for (const { dir, msg } of recording.lines as readonly RecordedLine[]) {
    if (dir !== "s2c" || !isSent(msg)) continue;
    entry(msg.method).recorded += 1;
    shapes.set(msg.method, [...(shapes.get(msg.method) ?? []), stabilised(msg["params"])]);
  }
  for (const frame of clients.flatMap((client) => client.received).filter(isSent)) {
    const known = entry(frame.method);
    known.ours += 1;
    known.equal ||= (shapes.get(frame.method) ?? []).some((shape) => isSame(shape, stabilised(frame["params"])));
  }
}
