import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { NativeHome } from "./native.ts";
import type { FlowRecord } from "./native-flows.ts";
import type { TappedFrame } from "./tap.ts";
import { withoutAges, withoutMoods } from "./tui-text.ts";

const TIMES = new Set(["emittedAtMs", "startedAtMs", "completedAtMs", "durationMs", "startedAt", "completedAt", "createdAt", "updatedAt", "recencyAt", "lastReadAt"]);
/** A cursor has a time or a place in a file in it. */
const CURSORS = new Set(["cursor", "nextCursor", "backwardsCursor", "turnsBackwardsCursor", "itemsBackwardsCursor"]);
/** The TUI asks for these in the background, whenever it finds the time. */
const SNAPSHOTS = new Set(["thread/list", "thread/loaded/list", "thread/read", "thread/turns/list"]);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const THREAD_MAKERS = new Set(["thread/start", "thread/fork"]);

/** What the server said in a flow, with the names of everything random taken out and what runs side by side apart. */
export type StableFrames = Record<string, unknown[]>;

/**
 * The frames to the client, so that two runs of one flow compare. Threads and turns are named by the order in which
 * they were asked for. What has an order of its own – a thread's life, one item's – keeps it; how these lie between
 * each other is chance, and so is what the TUI's background reads find.
 */
export function stableFrames({ frames }: FlowRecord, home: NativeHome): StableFrames {
  const asked = new Map<string, Record<string, unknown>>();
  const names = new Map<string, string>();
  for (const { connection, dir, msg } of frames) {
    const id = `${connection} ${JSON.stringify(msg["id"])}`;
    if (dir === "c2s" && typeof msg["method"] === "string" && "id" in msg) asked.set(id, msg);
    else if (dir === "s2c" && typeof msg["method"] !== "string") nameResult(String(asked.get(id)?.["method"]), msg["result"], names);
  }
  const interrupted = interruptedTurns(frames).map((id) => names.get(id));
  const stable: StableFrames = {};
  const put = (key: string, value: unknown): void => void (stable[key] ??= []).push(value);
  for (const { connection, dir, msg } of frames) {
    if (dir === "c2s") continue;
    const plain = stabilise(msg, home, names);
    if (typeof plain["method"] !== "string") {
      const request = asked.get(`${connection} ${JSON.stringify(msg["id"])}`) ?? {};
      const method = String(request["method"]);
      const answer = "error" in plain ? { error: plain["error"] } : { result: plain["result"] };
      if (!SNAPSHOTS.has(method)) put(`${connection} answers ${method} ${JSON.stringify(stabilise({ params: request["params"] }, home, names))}`, answer);
      else if ("result" in answer) stable[`answers ${method}`] = [...new Set([...(stable[`answers ${method}`] ?? []), ...membersOf(answer)])].sort();
      continue;
    }
    const params = isJsonObject(plain["params"]) ? plain["params"] : {};
    const thread = words(params["threadId"]) ?? idIn(params["thread"]) ?? "everywhere";
    const item = words(params["itemId"]) ?? idIn(params["item"]);
    if (isChance(plain, interrupted)) continue;
    if (typeof params["delta"] === "string") {
      // How a text is cut into deltas is the machine's mood.
      const key = `${connection} ${thread} ${plain["method"]} ${item ?? ""}`;
      const before = stable[key]?.[0] as { delta: string } | undefined;
      stable[key] = [{ ...params, delta: `${before?.delta ?? ""}${params["delta"]}` }];
    } else if (item !== undefined) put(`${connection} ${thread} item ${item}`, plain);
    else put(`${connection} ${thread} ${familyOf(plain["method"])}`, plain);
  }
  return stable;
}

/** The same for any value. `threads`: what they are named by. */
export function stableValue(value: Record<string, unknown>, home: NativeHome, threads: readonly string[]): Record<string, unknown> {
  return stabilise(value, home, new Map(threads.map((id, at) => [id, `<thread ${at}>`])));
}

/** One text for two screens that show the same. */
export function stableScreen(screen: string, home: NativeHome): string {
  return withoutAges(withoutMoods(text(screen, home, new Map<string, string>())))
    .replace(/ • \d\d:\d\d$/gm, " • <time>")
    .replace(/[ \t]+$/gm, "");
}

function words(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function idIn(value: unknown): string | undefined {
  return isJsonObject(value) ? words(value["id"]) : undefined;
}

/**
 * Of the real server's own timing: how much of an output comes ahead of its command's end, when it is whole; whether an
 * interrupted turn's usage, with the account's limits, is told once more; and when a thread is unloaded that nobody
 * watches, which a later connection may still hear, or that is archived, which is told once or twice.
 */
function isChance({ method, params }: Record<string, unknown>, interrupted: readonly (string | undefined)[]): boolean {
  if (method === "item/commandExecution/outputDelta" || method === "account/rateLimits/updated") return true;
  if (method === "thread/closed" || (method === "thread/status/changed" && statusIn(params) === "notLoaded")) return true;
  return method === "thread/tokenUsage/updated" && interrupted.includes((params as { turnId: string }).turnId);
}

/** The threads that were archived, each with whether the client was told that it is unloaded. */
export function archivedThreads({ frames }: FlowRecord): Map<unknown, boolean> {
  const told = frames.flatMap(({ dir, msg }) => (dir === "s2c" && isJsonObject(msg["params"]) ? [{ method: msg["method"], params: msg["params"] }] : []));
  const unloaded = new Set(told.filter(({ method, params }) => method === "thread/status/changed" && statusIn(params) === "notLoaded").map(({ params }) => params["threadId"]));
  return new Map(told.filter(({ method }) => method === "thread/archived").map(({ params: { threadId } }) => [threadId, unloaded.has(threadId)]));
}

function statusIn(params: unknown): unknown {
  const status = isJsonObject(params) ? params["status"] : undefined;
  return isJsonObject(status) ? status["type"] : undefined;
}

function interruptedTurns(frames: readonly TappedFrame[]): string[] {
  return frames.flatMap(({ msg }) => {
    const { turn } = (msg["method"] === "turn/completed" ? msg["params"] : {}) as { turn?: { id: string; status: string } };
    return turn?.status === "interrupted" ? [turn.id] : [];
  });
}

/** The places of an answer's members, its entries' own ones included, lists taken as one. What is in those depends on the moment. */
function membersOf(value: unknown, place = "", depth = 0): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => membersOf(each, `${place}[]`, depth));
  if (!isJsonObject(value) || depth === 3) return [];
  return Object.entries(value).flatMap(([name, each]) => [`${place}.${name}`, ...membersOf(each, `${place}.${name}`, depth + 1)]);
}

/** A turn's begin and end, and the state of its thread, come in one order. */
function familyOf(method: string): string {
  return /^(turn\/(started|completed)|thread\/status\/changed)$/.test(method) ? "life" : method;
}

function nameResult(method: string, result: unknown, names: Map<string, string>): void {
  const made = isJsonObject(result) ? (THREAD_MAKERS.has(method) ? result["thread"] : method === "turn/start" ? result["turn"] : undefined) : undefined;
  if (!isJsonObject(made) || typeof made["id"] !== "string" || names.has(made["id"])) return;
  names.set(made["id"], `<${method === "turn/start" ? "turn" : "thread"} ${names.size}>`);
}

function stabilise(frame: TappedFrame["msg"], home: NativeHome, names: Map<string, string>): Record<string, unknown> {
  const walk = (value: unknown, name: string): unknown => {
    if (typeof value === "number" && TIMES.has(name)) return "<time>";
    if (typeof value === "string" && CURSORS.has(name)) return "<cursor>";
    if (typeof value === "string" && name === "processId") return "<process>";
    if (typeof value === "string") return text(value, home, names);
    if (Array.isArray(value)) return value.map((each) => walk(each, name));
    if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [text(key, home, names), walk(each, key)]));
    return value;
  };
  return walk(frame, "") as Record<string, unknown>;
}

function text(value: string, home: NativeHome, names: Map<string, string>): string {
  return value
    .replaceAll(home.home, "<home>")
    .replace(/[^\s"']*foldcast-tui-home-\w+/g, "<tui home>")
    .replace(/sessions\/\d+\/\d+\/\d+\/rollout-[\dT-]+-/g, "sessions/<day>/rollout-<time>-")
    .replace(/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/g, "rollout-<time>-")
    .replace(/127\.0\.0\.1:\d+/g, "<loopback>")
    .replace(UUID, (id) => names.get(id) ?? "<id>")
    .replace(/sha256:[0-9a-f]+/g, "sha256:<hash>")
    .replace(/msg_[0-9a-z]+_\d+(_\d+)?\b/g, "<message$1>");
}
