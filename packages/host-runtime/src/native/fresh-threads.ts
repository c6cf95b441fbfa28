import { isJsonObject } from "@foldcast/protocol-core/wire";
import { ThreadSettingsUpdateParams, ThreadStartParams } from "@foldcast/protocol-core/wire/params";
import { initialSettings, mergeSettings, openingSettings } from "../threads/settings.ts";
import type { ThreadSettings } from "../threads/settings.ts";

/** A thread that the real server has started and that has had no turn yet: nothing of it exists but its settings. */
export interface FreshThread {
  /** Without a model of ours: the one it has is the real server's. */
  settings: ThreadSettings;
  ephemeral: boolean;
  threadSource: string | null;
}

/** Drafts that were never sent add up in a client that stays for weeks. */
const MOST = 1_000;

/** Requests after which a thread is no longer as new, beside those that begin with `turn/`. */
const USES = new Set([
  "thread/queue/add", "thread/inject_items", "thread/shellCommand", "thread/compact/start", "thread/realtime/start", "thread/goal/set", "thread/delete",
  "thread/archive", "thread/sample", "thread/prepareApprovedPlan", "review/start",
]);

/** Which of the real server's threads foldcast may still take over, and with which settings. */
export class FreshThreads {
  readonly #threads = new Map<string, FreshThread>();

  get(id: string): FreshThread | null {
    return this.#threads.get(id) ?? null;
  }

  /** `params` of `thread/start` and its result, as JSON. */
  started(params: string | null, result: string): void {
    const given = ThreadStartParams.safeParse(parsed(params) ?? {});
    const answer = parsed(result);
    const thread = answer?.["thread"];
    if (!given.success || !isJsonObject(thread) || typeof thread["id"] !== "string") return;
    const cwd = [answer?.["cwd"], thread["cwd"], given.data.cwd].find((each) => typeof each === "string") ?? process.cwd();
    const effort = given.data.config?.["model_reasoning_effort"];
    this.#put(thread["id"], {
      settings: { ...openingSettings(initialSettings(cwd), given.data), effort: typeof effort === "string" && effort !== "" ? effort : null },
      ephemeral: given.data.ephemeral ?? false,
      threadSource: given.data.threadSource ?? null,
    });
  }

  /**
   * A request goes to the real server for this thread. Gives the way back, for when that refuses it; null where it changes
   * nothing here.
   */
  passes(id: string, method: string, params: () => string | null): (() => void) | null {
    const thread = this.#threads.get(id);
    if (thread === undefined) return null;
    if (method === "thread/settings/update" || method === "turn/settings/update") {
      const given = ThreadSettingsUpdateParams.safeParse(parsed(params()));
      if (given.success) this.#put(id, { ...thread, settings: { ...mergeSettings(thread.settings, given.data), model: null } });
      return null;
    }
    if (!USES.has(method) && !method.startsWith("turn/")) return null;
    this.#threads.delete(id);
    return () => this.#put(id, thread);
  }

  delete(id: string): void {
    this.#threads.delete(id);
  }

  #put(id: string, thread: FreshThread): void {
    this.#threads.set(id, thread);
    const oldest = this.#threads.keys().next().value;
    if (this.#threads.size > MOST && oldest !== undefined) this.#threads.delete(oldest);
  }
}

function parsed(json: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = json === null ? null : JSON.parse(json);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
