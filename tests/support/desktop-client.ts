import { randomUUID } from "node:crypto";
import type { Thread, ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import { WireClient, type ReceivedNotification, type ReceivedRequest } from "./client.ts";
import { applyNotification, newTurn, turnFromWire, type DesktopTurn, type Dropped } from "./desktop-turns.ts";
import { webSocket, type Transport } from "./transport.ts";
import { until } from "./wait.ts";

const NAME = "Codex Desktop";
const OPT_OUT = [
  "thread/environment/connected", "thread/environment/disconnected", "rawResponseItem/completed", "rawResponse/completed",
  "externalAgentConfig/import/progress", "thread/compacted", "thread/closed", "windows/worldWritableWarning",
  "turn/moderationMetadata", "authStatusChange", "loginChatGptComplete", "warning",
];

/** The real server refuses a namespace without any. */
const CODEX_APP_TOOL = { type: "function", name: "open_page", description: "Opens a page.", inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] } };

interface TurnsPage {
  data: Turn[];
  nextCursor: string | null;
}
type Entry = ThreadItem | { item: ThreadItem };

/**
 * Behaves on the wire as Codex Desktop does, as far as its bundles and public reports tell: what it sends, what it
 * drops, what it throws at. `threads` is its state, filled from frames only. Use it with `await using`.
 */
export class DesktopClient implements AsyncDisposable {
  readonly wire: WireClient;
  readonly threads = new Map<string, DesktopTurn[]>();
  readonly dropped: Dropped = { completedWithoutStart: 0, deltaWithoutItem: 0, unknownTurn: 0, unknownThread: 0 };
  /** Frames of a thread that is being resumed wait here until the answer was applied. */
  readonly #held = new Map<string, ReceivedNotification[]>();
  #ready = false;

  private constructor(wire: WireClient) {
    this.wire = wire;
    wire.on((frame) => this.#receive(frame));
  }

  /** Connects to an address, or over streams, and shakes hands. Rejects where Desktop would show its error page. */
  static async connect(where: string | Transport): Promise<DesktopClient> {
    let count = 0;
    const nextId = (): string => (count++ === 0 ? "__codex_initialize__" : randomUUID());
    const client = new DesktopClient(new WireClient(typeof where === "string" ? await webSocket(where) : where, { label: "desktop", nextId }));
    const answer = await client.wire.request("initialize", {
      clientInfo: { name: NAME, title: NAME, version: "26.930.31730" },
      capabilities: { experimentalApi: true, mcpServerOpenaiFormElicitation: false, requestAttestation: false, optOutNotificationMethods: OPT_OUT },
    });
    if (!/^.+?\/\S+/.test(String(answer["userAgent"]))) throw new Error(`no version in the user agent ${String(answer["userAgent"])}`);
    client.#ready = true;
    return client;
  }

  /** A draft's thread: made while a person types, perhaps never used. Gives the thread's id. */
  async prewarm(cwd: string, model: string | null = null): Promise<string> {
    const { thread } = await this.wire.request<{ thread: Thread }>("thread/start", {
      cwd, model, modelProvider: null, serviceTier: null, config: { "features.code_mode_host": true }, approvalsReviewer: null,
      approvalPolicy: "on-request", sandbox: "workspace-write", runtimeWorkspaceRoots: [cwd], personality: null, ephemeral: null,
      baseInstructions: null, developerInstructions: "x".repeat(20_000), threadSource: "user", mockExperimentalField: null,
      experimentalRawEvents: false, dynamicTools: [{ type: "namespace", name: "codex_app", description: "", tools: [CODEX_APP_TOOL] }],
    });
    this.threads.set(thread.id, this.threads.get(thread.id) ?? []);
    return thread.id;
  }

  /** Sends a prompt and resolves with the turn when it has ended. With a collaboration mode, model and effort go there. */
  async prompt(threadId: string, text: string, options: { model?: string; cwd?: string } = {}): Promise<DesktopTurn> {
    const turn = await this.submit(threadId, text, options);
    return until("the turn's end", () => (turn.status === "inProgress" ? undefined : turn), {
      timeoutMs: 60_000,
      everyMs: 5,
      describe: () => JSON.stringify(turn).slice(0, 2_000),
    });
  }

  /** Sends a prompt; resolves when the server took it, with the turn that lives on. */
  async submit(threadId: string, text: string, options: { model?: string; cwd?: string } = {}): Promise<DesktopTurn> {
    const turns = this.#turnsOf(threadId);
    const optimistic = newTurn(null);
    turns.push(optimistic);
    const answer = await this.wire.request<{ turn: Turn }>("turn/start", {
      threadId, clientUserMessageId: randomUUID(), additionalContext: null, input: [{ type: "text", text, text_elements: [] }],
      environments: null, cwd: options.cwd ?? null, approvalPolicy: null, approvalsReviewer: null, sandboxPolicy: null, permissions: null,
      runtimeWorkspaceRoots: null, model: null, serviceTier: null, effort: null, multiAgentMode: null, summary: "none", personality: null,
      responsesapiClientMetadata: { workspace_kind: "project" }, outputSchema: null, attachments: [],
      collaborationMode: options.model === undefined ? null : { mode: "default", settings: { model: options.model, reasoning_effort: null, developer_instructions: null } },
    });
    const named = turns.find((turn) => turn.id === answer.turn.id);
    if (named === undefined) {
      optimistic.id = answer.turn.id;
      return optimistic;
    }
    // The input went to a turn that was running already: no turn of its own.
    if (named !== optimistic) turns.splice(turns.indexOf(optimistic), 1);
    return named;
  }

  steer(threadId: string, text: string, expectedTurnId: string): Promise<unknown> {
    return this.wire.request("turn/steer", {
      threadId, clientUserMessageId: randomUUID(), input: [{ type: "text", text, text_elements: [] }], expectedTurnId, responsesapiClientMetadata: null,
    });
  }

  interrupt(threadId: string, turnId: string): Promise<unknown> {
    return this.wire.request("turn/interrupt", { threadId, turnId });
  }

  /** The sidebar's list, newest first, all pages. Ephemeral threads are left out by the client. */
  async list(): Promise<Thread[]> {
    const threads = await this.#pages<Thread>((cursor) =>
      this.wire.request("thread/list", {
        limit: 100, cursor, sortKey: "recency_at", modelProviders: null, archived: false, sourceKinds: ["cli", "vscode", "appServer"], useStateDbOnly: true,
      }),
    );
    return threads.filter((thread) => !thread.ephemeral);
  }

  /** Opens a thread as a click in the sidebar does. Resolves with its turns, oldest first. */
  async open(threadId: string): Promise<DesktopTurn[]> {
    const known = await this.wire.request<{ thread: Thread }>("thread/read", { threadId, includeTurns: false }).catch(() => null);
    this.#held.set(threadId, []);
    const resumed = await this.wire.request<{ initialTurnsPage: TurnsPage | null }>("thread/resume", {
      threadId, history: null, path: known?.thread.path ?? null, model: null, modelProvider: null, serviceTier: null, cwd: known?.thread.cwd ?? null,
      config: {}, personality: null, excludeTurns: true, initialTurnsPage: { limit: 5, itemsView: "full", sortDirection: "desc" },
    });
    const page = resumed.initialTurnsPage;
    let turns: DesktopTurn[];
    if (page === null) {
      const { thread } = await this.wire.request<{ thread: Thread }>("thread/read", { threadId, includeTurns: true });
      turns = thread.turns.map(turnFromWire);
    } else {
      const older = page.nextCursor === null ? [] : await this.#turnsByPages(threadId, page.nextCursor);
      turns = [...page.data.map(turnFromWire), ...older].reverse();
    }
    this.threads.set(threadId, turns);
    const held = this.#held.get(threadId) ?? [];
    this.#held.delete(threadId);
    for (const frame of held) applyNotification(turns, frame, this.dropped);
    await this.wire.request("thread/goal/get", { threadId }).catch(() => null);
    return turns;
  }

  /** The same turns the other way that Desktop knows: turns without items, then each turn's items, five at a time. */
  async openByItems(threadId: string): Promise<DesktopTurn[]> {
    return (await this.#turnsByPages(threadId, null)).reverse();
  }

  close(): Promise<void> {
    return this.wire.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #turnsByPages(threadId: string, from: string | null): Promise<DesktopTurn[]> {
    const turns = await this.#pages<Turn>(
      (cursor) => this.wire.request("thread/turns/list", { threadId, cursor, limit: 5, itemsView: "notLoaded", sortDirection: "desc" }),
      from,
    );
    const filled: DesktopTurn[] = [];
    for (let at = 0; at < turns.length; at += 5) {
      const five = turns.slice(at, at + 5).map(async (turn) => {
        const entries = await this.#pages<Entry>((cursor) =>
          this.wire.request("thread/items/list", { threadId, turnId: turn.id, cursor, limit: 500, sortDirection: "asc" }),
        );
        return { ...turnFromWire(turn), items: entries.map((entry) => ("item" in entry ? entry.item : entry)) };
      });
      filled.push(...(await Promise.all(five)));
    }
    return filled;
  }

  /** All pages. Throws on a cursor that came before, as Desktop does. */
  async #pages<T>(page: (cursor: string | null) => Promise<{ data: T[]; nextCursor: string | null }>, from: string | null = null): Promise<T[]> {
    const all: T[] = [];
    const seen = new Set<string>();
    for (let cursor = from; ; ) {
      const { data, nextCursor } = await page(cursor);
      all.push(...data);
      if (nextCursor === null) return all;
      if (nextCursor === cursor || seen.has(nextCursor)) throw new Error(`App Server repeated a list cursor: ${nextCursor}`);
      seen.add(nextCursor);
      cursor = nextCursor;
    }
  }

  #turnsOf(threadId: string): DesktopTurn[] {
    const turns = this.threads.get(threadId);
    if (turns === undefined) throw new Error(`Desktop does not know the thread ${threadId}`);
    return turns;
  }

  #receive(frame: ReceivedNotification | ReceivedRequest): void {
    // Nothing but the answer is read before the handshake is over.
    if (!this.#ready || "id" in frame) return;
    if (frame.method === "thread/started") {
      const thread = frame.params["thread"] as Thread;
      if (!thread.ephemeral && !this.threads.has(thread.id)) this.threads.set(thread.id, []);
      return;
    }
    if (!/^(turn|item)\//.test(frame.method)) return;
    const threadId = frame.params["threadId"] as string;
    const held = this.#held.get(threadId);
    const turns = this.threads.get(threadId);
    if (held !== undefined) held.push(frame);
    else if (turns === undefined) this.dropped.unknownThread++;
    else applyNotification(turns, frame, this.dropped);
  }
}
