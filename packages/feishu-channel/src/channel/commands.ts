import { isAbsolute, resolve } from "node:path";
import type { InteractionPayload } from "@foldcast/protocol-core/interaction";
import { previewText } from "@foldcast/protocol-core/tools";
import type { Thread, Turn } from "@foldcast/protocol-core/wire";
import { isInFolders } from "../inbound/access.ts";
import type { CommandName } from "../inbound/command.ts";
import type { Binding } from "./binding.ts";
import type { Follower } from "./follower.ts";
import type { CHANNEL_TEXTS } from "./texts.ts";

type Texts = (typeof CHANNEL_TEXTS)["zh"];

export interface CommandDeps {
  readonly request: <T>(method: string, params: object) => Promise<T>;
  readonly texts: Texts;
  readonly binding: Binding;
  readonly bind: (changes: Partial<Binding>) => void;
  /** The thread of this chat, loaded; null when there is none. */
  readonly follower: () => Promise<Follower | null>;
  readonly folders: readonly string[];
  readonly defaultCwd: string;
  readonly defaultModel: string | null;
  /** Puts up buttons, each of which is a command. */
  readonly offer: (payload: InteractionPayload) => void;
}

const MAX_BUTTONS = 20;

/** Carries a command out; gives what to say, null where a card says it. Rejects with the server's words. */
export async function runCommand(name: CommandName, argument: string, deps: CommandDeps): Promise<string | null> {
  const { texts, bind, binding, request } = deps;
  switch (name) {
    case "help":
      return texts.help;
    case "new":
      bind({ threadId: null });
      return texts.newThread;
    case "threads":
      return listThreads(argument, deps);
    case "model":
      return chooseModel(argument, deps);
    case "stop": {
      const follower = await deps.follower();
      const turn = follower?.runningTurn;
      if (follower === null || turn === null || turn === undefined) return texts.notRunning;
      await request("turn/interrupt", { threadId: follower.view.id, turnId: turn.id });
      return texts.stopping;
    }
    case "status": {
      const follower = await deps.follower();
      if (follower === null) return texts.noThread;
      return texts.status({ thread: follower.view.name ?? (follower.preview === "" ? follower.view.id : cut(follower.preview, 60)), model: follower.model ?? binding.model ?? deps.defaultModel ?? "—", cwd: follower.cwd, running: follower.runningTurn !== null });
    }
    case "history": {
      const follower = await deps.follower();
      if (follower === null) return texts.noThread;
      const limit = Math.min(Math.max(Number.parseInt(argument, 10) || 5, 1), 10);
      const { data } = await request<{ data: Turn[] }>("thread/turns/list", { threadId: follower.view.id, limit, sortDirection: "desc", itemsView: "summary" });
      return `${texts.history}\n\n${data.toReversed().map(turnLine).join("\n\n")}`;
    }
    case "fork": {
      const follower = await deps.follower();
      if (follower === null) return texts.noThread;
      const { thread } = await request<{ thread: Thread }>("thread/fork", { threadId: follower.view.id });
      bind({ threadId: thread.id });
      return texts.forked;
    }
    case "rename": {
      const follower = await deps.follower();
      if (follower === null) return texts.noThread;
      if (argument === "") return texts.needName;
      await request("thread/name/set", { threadId: follower.view.id, name: argument });
      return texts.renamed(argument);
    }
    case "cwd": {
      if (argument === "") return texts.cwdIs(binding.cwd ?? deps.defaultCwd);
      const path = resolve(isAbsolute(argument) ? argument : resolve(binding.cwd ?? deps.defaultCwd, argument));
      if (!isInFolders(deps.folders, path)) return texts.cwdRefused(deps.folders.join(", "));
      bind({ cwd: path, threadId: null });
      return texts.cwdNext(path);
    }
  }
}

function turnLine({ items, status }: Turn): string {
  const prompt = items.find((item) => item.type === "userMessage");
  const answer = items.findLast((item) => item.type === "agentMessage");
  const asked = prompt?.type === "userMessage" ? prompt.content.map((part) => (part.type === "text" ? part.text : "🖼️")).join(" ") : "";
  const said = answer?.type === "agentMessage" ? answer.text : status;
  return `› ${cut(asked, 80)}\n${cut(said, 200)}`;
}

function cut(text: string, length: number): string {
  const { text: line, limit } = previewText(text.replaceAll(/\s+/g, " ").trim(), { chars: length, lines: 1 });
  return limit === null ? line : `${line}…`;
}

function offerOf(title: string, choices: readonly { readonly label: string; readonly command: string }[]): InteractionPayload {
  return {
    interactionId: "", kind: "command", title, body: "", fields: [], expiresAt: null,
    actions: choices.slice(0, MAX_BUTTONS).map(({ label, command }, index) => ({ id: `c${index + 1}`, label, value: command, style: "default" as const })),
  };
}

async function listThreads(argument: string, { request, texts, bind, offer }: CommandDeps): Promise<string | null> {
  const { data } = await request<{ data: Thread[] }>("thread/list", { limit: 10, sortKey: "updated_at", sourceKinds: ["cli", "vscode", "exec", "appServer", "unknown"] });
  if (data.length === 0) return texts.noThreads;
  if (argument !== "") {
    const chosen = data.find(({ id }) => id === argument) ?? data[Number(argument) - 1] ?? (await readThread(argument, request));
    if (chosen === null) return texts.noSuchThread;
    bind({ threadId: chosen.id });
    return texts.resumed(titleOf(chosen));
  }
  offer(offerOf(texts.threads, data.map((thread, index) => ({ label: `${index + 1}. ${titleOf(thread)}`, command: `/threads ${thread.id}` }))));
  return null;
}

async function readThread(threadId: string, request: CommandDeps["request"]): Promise<Thread | null> {
  try {
    return (await request<{ thread: Thread }>("thread/read", { threadId, includeTurns: false })).thread;
  } catch {
    return null;
  }
}

function titleOf({ name, preview, id }: Thread): string {
  return cut(name ?? (preview === "" ? id : preview), 60);
}

async function chooseModel(argument: string, deps: CommandDeps): Promise<string | null> {
  const { request, texts, bind, offer, binding } = deps;
  const { data } = await request<{ data: { model: string; displayName: string }[] }>("model/list", { limit: 100 });
  if (argument === "") {
    offer(offerOf(texts.models, data.map(({ model, displayName }) => ({ label: displayName, command: `/model ${model}` }))));
    return null;
  }
  if (!data.some(({ model }) => model === argument)) return texts.noModel(argument);
  const follower = await deps.follower();
  bind({ model: argument });
  if (follower === null) return texts.modelIs(argument);
  try {
    await request("thread/settings/update", { threadId: follower.view.id, model: argument });
    follower.model = argument;
    return texts.modelIs(argument);
  } catch {
    // Of another harness: a thread stays with the one that began it.
    bind({ ...binding, model: argument, threadId: null });
    return texts.modelNextThread(argument);
  }
}
