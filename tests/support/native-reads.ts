import { isJsonObject } from "@foldcast/protocol-core/wire";
import { WireClient } from "./client.ts";
import type { NativeHome } from "./native.ts";
import { stableValue } from "./native-normal.ts";
import { webSocket } from "./transport.ts";
import { stillFor } from "./wait.ts";

/**
 * What a client reads that asks for one thing after the other, by request, so that two servers with the same threads
 * compare. Refusals count as answers.
 */
export async function nativeReads(url: string, home: NativeHome): Promise<Record<string, unknown>> {
  await using wire = new WireClient(await webSocket(url), { label: "native-reads", record: false });
  const answers: Record<string, unknown> = {};
  const ask = async (label: string, method: string, params?: object): Promise<Record<string, unknown>> => {
    const answer = await wire.request(method, params).catch((error: unknown) => ({ refused: String(error) }));
    answers[label] = answer;
    return isJsonObject(answer) ? answer : {};
  };
  await ask("too early", "thread/list", {});
  await ask("initialize", "initialize", { clientInfo: { name: "reader", version: "1" }, capabilities: { experimentalApi: true } });
  wire.notify("initialized");
  await ask("twice", "initialize", { clientInfo: { name: "reader", version: "1" } });

  // Threads are unloaded behind the ends of those who had them open.
  await stillFor("the loaded threads", () => wire.request("thread/loaded/list", {}), JSON.stringify);
  const { data } = await ask("threads", "thread/list", { sortKey: "created_at", sortDirection: "asc" });
  const threads = (data as { id: string }[]).map(({ id }) => id);
  await ask("threads of one folder", "thread/list", { cwd: home.cwd, sortKey: "updated_at", sourceKinds: ["cli", "vscode"] });
  await ask("archived threads", "thread/list", { archived: true });
  await ask("threads of another provider", "thread/list", { modelProviders: ["openai"] });
  await ask("one thread", "thread/list", { limit: 1, sortKey: "created_at", sortDirection: "asc" });
  await ask("threads with a word", "thread/list", { searchTerm: "use the tools" });
  await ask("search", "thread/search", { searchTerm: "program", limit: 5 });
  await ask("a wrong cursor", "thread/list", { cursor: "garbage" });
  await ask("a wrong order", "thread/list", { sortKey: "bogus" });
  for (const [at, threadId] of threads.entries()) {
    await ask(`thread ${at}`, "thread/read", { threadId, includeTurns: true });
    const { data: turns } = await ask(`turns of thread ${at}`, "thread/turns/list", { threadId, limit: 5, sortDirection: "desc", itemsView: "full" });
    await ask(`items of thread ${at}`, "thread/items/list", { threadId, limit: 100, sortDirection: "desc" });
    const turnId = (turns as { id: string }[] | undefined)?.[0]?.id;
    await ask(`a late interrupt in thread ${at}`, "turn/interrupt", { threadId, turnId: turnId ?? "none" });
    await ask(`goal of thread ${at}`, "thread/goal/get", { threadId });
  }
  await ask("nobody's thread", "thread/read", { threadId: "01900000-0000-7000-8000-000000000000" });
  await ask("no thread id", "thread/resume", { threadId: "nonsense" });
  await ask("no such method", "nothing/atAll", {});
  await ask("no parameters", "thread/start");
  await ask("wrong parameters", "turn/start", { threadId: 5 });
  await ask("login", "getAuthStatus", { includeToken: false, refreshToken: false });
  await ask("account", "account/read", {});
  await ask("configuration", "config/read", { includeLayers: true, cwd: home.cwd });
  await ask("modes", "collaborationMode/list", {});
  await ask("limits", "account/rateLimits/read");
  await ask("loaded", "thread/loaded/list", {});
  return stableValue(answers, home, threads);
}
