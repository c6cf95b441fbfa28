import { realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { InteractionPayload } from "@foldcast/protocol-core/interaction";
import { previewText } from "@foldcast/protocol-core/tools";
import type { Thread, Turn } from "@foldcast/protocol-core/wire";
import { type ChatLimits, isInFolders, isModelAllowed, isWithin } from "../inbound/access.ts";
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
  readonly limits: ChatLimits;
  /** The person was let in by name, not as a member of a chat: threads of any folder may be theirs. */
  readonly isNamed: boolean;
  readonly defaultModel: string | null;
  /** Puts up buttons, each of which is a command. */
  readonly offer: (payload: InteractionPayload) => void;
}

const MAX_BUTTONS = 20;
const MAX_THREADS = 10;
/** Commands that need no words. */
const BUTTONS = ["new", "threads", "model", "stop", "status", "history", "fork"] as const;

/** Carries a command out; gives what to say, null where a card says it. Rejects with the server's words. */
export async function runCommand(name: CommandName, argument: string, deps: CommandDeps): Promise<string | null> {
  const { texts, bind, binding, request } = deps;
  switch (name) {
    case "help":
      deps.offer({ ...offerOf(texts.commands, BUTTONS.map((command) => ({ label: texts.buttons[command], command: `/${command}` }))), body: texts.help });
      return null;
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
      return `${texts.history}\n\n${data.toReversed().map((turn) => turnLine(turn, texts)).join("\n\n")}`;
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
      const { folders } = deps.limits;
      const current = folderOf(binding, deps.limits);
      if (argument === "") return texts.cwdIs(current);
      const path = resolve(isAbsolute(argument) ? argument : resolve(current, argument));
      if (!isInFolders(folders, path) || !isInFolders(folders.map(real), real(path))) return texts.cwdRefused(folders.join(", "));
      bind({ cwd: path, threadId: null });
      return texts.cwdNext(path);
    }
  }
}

/** Where a new thread works: what was chosen in the chat, as long as it is allowed there. */
export function folderOf({ cwd }: Pick<Binding, "cwd">, limits: ChatLimits): string {
  return cwd !== null && isInFolders(limits.folders, cwd) ? cwd : limits.cwd;
}

/** Without links on the way, as far as this machine has the folder. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function turnLine({ items, status }: Turn, texts: Texts): string {
  const prompt = items.find((item) => item.type === "userMessage");
  const answer = items.findLast((item) => item.type === "agentMessage");
  const asked = prompt?.type === "userMessage" ? prompt.content.map((part) => (part.type === "text" ? part.text : "🖼️")).join(" ") : "";
  const said = answer?.type === "agentMessage" ? answer.text : texts.states[status];
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

async function listThreads(argument: string, deps: CommandDeps): Promise<string | null> {
  const { request, texts, bind, offer } = deps;
  const listed = await request<{ data: Thread[] }>("thread/list", { limit: deps.isNamed ? MAX_THREADS : 100, sortKey: "updated_at", modelProviders: [], sourceKinds: ["cli", "vscode", "exec", "appServer", "unknown"] });
  const data = listed.data.filter((thread) => mayUse(thread, deps)).slice(0, MAX_THREADS);
  if (argument !== "") {
    const chosen = data.find(({ id }) => id === argument) ?? data[Number(argument) - 1] ?? (await readThread(argument, request));
    if (chosen === null || !mayUse(chosen, deps)) return texts.noSuchThread;
    bind({ threadId: chosen.id });
    return texts.resumed(titleOf(chosen));
  }
  if (data.length === 0) return texts.noThreads;
  offer(offerOf(texts.threads, data.map((thread, index) => ({ label: `${index + 1}. ${titleOf(thread)}`, command: `/threads ${thread.id}` }))));
  return null;
}

function mayUse(thread: Pick<Thread, "cwd" | "model">, { limits, isNamed }: CommandDeps): boolean {
  // Who is named for the bot may go anywhere but in a chat that has limits of its own.
  return isWithin(isNamed ? { ...limits, folders: [thread.cwd] } : limits, thread);
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
  const data = (await request<{ data: { model: string; displayName: string }[] }>("model/list", { limit: 100 })).data.filter(({ model }) => isModelAllowed(deps.limits.models, model));
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

/** The model of a new thread: the one that is wanted, else the first of those that may be used; null = the server's own choice. */
export async function modelOfNewThread(wanted: string | null, models: readonly string[], request: CommandDeps["request"]): Promise<string | null> {
  if (models.length === 0 || (wanted !== null && isModelAllowed(models, wanted))) return wanted;
  const { data } = await request<{ data: { model: string }[] }>("model/list", { limit: 100 });
  const first = data.find(({ model }) => isModelAllowed(models, model));
  if (first === undefined) throw new Error(`none of these models is there: ${models.join(", ")}`);
  return first.model;
}
