import { randomUUID } from "node:crypto";
import type { Thread, Turn } from "@foldcast/protocol-core/wire";
import { RpcFault, type ReceivedNotification, type ReceivedRequest } from "./client.ts";
import { DesktopClient } from "./desktop-client.ts";
import type { DesktopTurn } from "./desktop-turns.ts";
import type { Transport } from "./transport.ts";

/** A row of the sidebar. */
export interface SidebarRow {
  title: string;
  status: string;
}
/** An input that Desktop shows as on its way into a turn that runs. */
export interface PendingSteer {
  clientId: string;
  text: string;
}
interface QueuedSubmission {
  id: string;
  clientUserMessageId: string;
  input: { text?: string }[];
}

/** What Desktop asks at its start, as far as its bundles name it; most of it may fail without more than a missing feature. */
const STARTUP: readonly [method: string, params: unknown][] = [
  ["account/read", { refreshToken: false }],
  ["getAuthStatus", { includeToken: false, refreshToken: false }],
  ["config/read", { includeLayers: false, cwd: "/w" }],
  ["configRequirements/read", undefined],
  ["model/list", { includeHidden: true, cursor: null, limit: 100 }],
  ["collaborationMode/list", {}],
  ["experimentalFeature/list", {}],
  ["permissionProfile/list", {}],
  ["modelProvider/capabilities/read", {}],
  ["hooks/list", { cwds: ["/w"] }],
  ["skills/list", { cwds: ["/w"] }],
  ["plugin/list", {}],
  ["plugin/installed", {}],
  ["app/list", { cursor: null, limit: 100, threadId: null, forceRefetch: false }],
  ["mcpServerStatus/list", { cursor: null, limit: 100, detail: "full", threadId: null }],
  ["remoteControl/status/read", undefined],
];

/** As its code tells a method that the server does not have from one that failed. */
const isMissing = ({ code, message }: RpcFault): boolean => code === -32601 || /method not found|unknown method|unknown variant/.test(message);

const text = (value: string): object[] => [{ type: "text", text: value, text_elements: [] }];

/**
 * The part of Codex Desktop above its connection: the sidebar, the composer with its steers and its queue, the menu of a
 * thread. Its state comes from answers and notifications only. Use it with `await using`.
 */
export class DesktopApp implements AsyncDisposable {
  readonly client: DesktopClient;
  readonly sidebar = new Map<string, SidebarRow>();
  /** By thread; settled by an item with the same client id. */
  readonly pending = new Map<string, PendingSteer[]>();
  /** What was on its way into a turn that ended without it, to be sent again by a person. */
  readonly returned: PendingSteer[] = [];
  /** By thread, in the order in which the server runs them. */
  readonly queues = new Map<string, string[]>();

  private constructor(client: DesktopClient) {
    this.client = client;
    client.wire.on((frame) => this.#receive(frame));
  }

  /** Connects and asks what the app asks at its start. `missing` are methods that the server does not have. */
  static async start(where: string | Transport): Promise<{ app: DesktopApp; answers: Map<string, Record<string, unknown>>; missing: string[]; failed: string[] }> {
    const client = await DesktopClient.connect(where);
    const app = new DesktopApp(client);
    const answers = new Map<string, Record<string, unknown>>();
    const missing: string[] = [];
    const failed: string[] = [];
    await Promise.all(STARTUP.map(async ([method, params]) => {
      try {
        answers.set(method, await client.wire.request(method, params));
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error;
        (isMissing(error) ? missing : failed).push(method);
      }
    }));
    for (const thread of await client.list()) app.#show(thread);
    return { app, answers, missing, failed };
  }

  async rename(threadId: string, name: string): Promise<void> {
    await this.client.wire.request("thread/name/set", { threadId, name });
  }

  async archive(threadId: string): Promise<void> {
    await this.client.wire.request("thread/archive", { threadId });
  }

  async unarchive(threadId: string): Promise<void> {
    await this.client.wire.request("thread/unarchive", { threadId });
  }

  async search(searchTerm: string): Promise<string[]> {
    const { data } = await this.client.wire.request<{ data: { thread: Thread }[] }>("thread/search", {
      archived: false, limit: 20, cursor: null, sortKey: "updated_at", sourceKinds: ["cli", "vscode", "appServer"], searchTerm,
    });
    return data.map(({ thread }) => thread.id);
  }

  /**
   * Sends a text while a turn runs. Told that another turn runs, it tries once more with that one; told that none does, it
   * begins a turn of its own. Gives which of them happened.
   */
  async steer(threadId: string, value: string, expectedTurnId: string): Promise<"steered" | "retried" | "started"> {
    const steer: PendingSteer = { clientId: randomUUID(), text: value };
    this.pending.set(threadId, [...(this.pending.get(threadId) ?? []), steer]);
    const send = (turnId: string): Promise<unknown> => this.client.wire.request("turn/steer", {
      threadId, clientUserMessageId: steer.clientId, input: text(value), expectedTurnId: turnId, responsesapiClientMetadata: null,
    });
    try {
      await send(expectedTurnId);
      return "steered";
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      const found = /expected active turn id `[^`]*` but found `([^`]+)`/.exec(error.message)?.[1];
      if (found !== undefined) {
        await send(found);
        return "retried";
      }
      this.#settle(threadId, steer.clientId);
      await this.client.submit(threadId, value);
      return "started";
    }
  }

  /** Leaves a text for the turn after the running one. Gives the id under which it waits. */
  async enqueue(threadId: string, value: string): Promise<string> {
    const { queuedSubmission } = await this.client.wire.request<{ queuedSubmission: QueuedSubmission }>("thread/queue/add", {
      threadId, input: text(value), clientUserMessageId: randomUUID(),
    });
    return queuedSubmission.id;
  }

  async changeQueued(threadId: string, id: string, value: string | null): Promise<void> {
    if (value === null) await this.client.wire.request("thread/queue/delete", { threadId, queuedSubmissionId: id });
    else await this.client.wire.request("thread/queue/update", { threadId, queuedSubmissionId: id, input: text(value) });
  }

  /** "Edit last message": takes the last turn out and sends the new words. Older releases name a number, newer the turn. */
  async editLast(threadId: string, value: string, release: "older" | "newer"): Promise<DesktopTurn> {
    const last = this.client.threads.get(threadId)?.at(-1)?.id;
    if (release === "older") await this.client.wire.request<{ thread: { turns: Turn[] } }>("thread/rollback", { threadId, numTurns: 1 });
    else await this.client.wire.request("thread/revert", { threadId, beforeTurnId: last });
    await this.client.open(threadId);
    return this.client.prompt(threadId, value);
  }

  async fork(threadId: string): Promise<string> {
    const { thread } = await this.client.wire.request<{ thread: Thread }>("thread/fork", { threadId, path: null, cwd: null, threadSource: "user", config: {} });
    await this.client.open(thread.id);
    return thread.id;
  }

  close(): Promise<void> {
    return this.client.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #show(thread: Thread): void {
    if (!thread.ephemeral) this.sidebar.set(thread.id, { title: thread.name ?? thread.preview, status: thread.status.type });
  }

  #settle(threadId: string, clientId: string): void {
    this.pending.set(threadId, (this.pending.get(threadId) ?? []).filter((steer) => steer.clientId !== clientId));
  }

  #receive(frame: ReceivedNotification | ReceivedRequest): void {
    if ("id" in frame) return;
    const { method, params } = frame;
    const threadId = params["threadId"] as string;
    const row = this.sidebar.get(threadId);
    switch (method) {
      case "thread/name/updated":
        // A blank name changes nothing.
        if (row !== undefined && typeof params["threadName"] === "string" && params["threadName"].trim() !== "") row.title = params["threadName"];
        break;
      case "thread/status/changed":
        if (row !== undefined) row.status = (params["status"] as { type: string }).type;
        break;
      case "thread/archived":
      case "thread/deleted":
        this.sidebar.delete(threadId);
        break;
      case "thread/unarchived":
        void this.client.wire.request<{ thread: Thread }>("thread/read", { threadId, includeTurns: false }).then(({ thread }) => this.#show(thread), () => undefined);
        break;
      case "thread/queue/changed":
        void this.client.wire.request<{ data: QueuedSubmission[] }>("thread/queue/list", { threadId, cursor: null, limit: 100 })
          .then(({ data }) => this.queues.set(threadId, data.map(({ input }) => input[0]?.text ?? "")), () => undefined);
        break;
      case "item/started":
      case "item/completed": {
        const item = params["item"] as { type: string; clientId?: string | null };
        if (item.type === "userMessage" && item.clientId != null) this.#settle(threadId, item.clientId);
        break;
      }
      case "turn/completed":
        this.returned.push(...(this.pending.get(threadId) ?? []));
        this.pending.delete(threadId);
        break;
    }
  }
}
