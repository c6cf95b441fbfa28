import type { FakeUpstream } from "./fake-upstream.ts";

export interface NativeThread {
  id: string;
  /** Unix seconds. */
  createdAt: number;
  preview: string;
}

export const nativeId = (n: number): string => `01900000-0000-7000-8000-${String(n).padStart(12, "0")}`;

/** Threads as the real server keeps and lists them, as far as the tests look. */
export function serveThreads(upstream: FakeUpstream): { threads: NativeThread[]; deleted: string[] } {
  const threads: NativeThread[] = [];
  const deleted: string[] = [];
  let made = 100;
  const wire = ({ id, createdAt, preview }: NativeThread): object => ({ id, preview, createdAt, updatedAt: createdAt, recencyAt: createdAt, modelProvider: "openai", cwd: "/n" });
  upstream.on("thread/start", (params, link) => {
    const thread = { id: nativeId(++made), createdAt: made, preview: "" };
    setImmediate(() => link.send({ method: "thread/started", params: { thread: wire(thread) } }));
    return { thread: wire(thread), model: params["model"] ?? "gpt", modelProvider: "openai", cwd: params["cwd"] ?? "/n", approvalPolicy: "never", sandbox: { type: "readOnly" } };
  });
  upstream.on("thread/resume", (params) => ({ thread: { id: params["threadId"] }, model: params["model"] ?? "gpt", cwd: "/n" }));
  upstream.on("thread/unsubscribe", () => ({ status: "unsubscribed" }));
  upstream.on("thread/settings/update", () => ({}));
  upstream.on("turn/start", () => ({ turn: { id: "native-turn", items: [], status: "inProgress" } }));
  upstream.on("thread/delete", ({ threadId }) => {
    deleted.push(String(threadId));
    upstream.broadcast("thread/deleted", { threadId });
    return {};
  });
  upstream.on("thread/list", ({ cursor, limit, sortDirection }) => {
    if (typeof cursor === "string" && !/^n\d+$/.test(cursor)) return new Error(`invalid cursor: ${cursor}`);
    const sign = sortDirection === "asc" ? 1 : -1;
    const sorted = threads.toSorted((a, b) => sign * (a.createdAt - b.createdAt));
    const from = typeof cursor === "string" ? Number(cursor.slice(1)) : 0;
    const to = Math.min(from + Number(limit ?? 25), sorted.length);
    const readStates = Object.fromEntries(sorted.slice(from, to).map(({ id }) => [id, { firstUnread: null, revision: `r:${id}` }]));
    return { data: sorted.slice(from, to).map(wire), readStates, nextCursor: to < sorted.length ? `n${String(to)}` : null, backwardsCursor: from === 0 && to > 0 ? "n0" : null };
  });
  return { threads, deleted };
}
