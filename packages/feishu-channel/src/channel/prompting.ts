import type { Turn, UserInput } from "@foldcast/protocol-core/wire";
import { CHANNEL } from "../client/host-client.ts";
import type { Table } from "../ledger/documents.ts";
import type { Beginning } from "./binding.ts";
import type { Follower } from "./follower.ts";

export interface Prompt {
  readonly messageId: string;
  readonly chatId: string;
  readonly openId: string;
  readonly inThread: boolean;
  readonly input: readonly UserInput[];
  /** An earlier process has begun to carry it out. */
  readonly isRecovered: boolean;
}

export interface PromptDeps {
  readonly request: <T>(method: string, params: object) => Promise<T>;
  readonly beginnings: Table<Beginning>;
  /** Notes that the message belongs to the thread: a reply to it finds that. */
  readonly noteThread: (threadId: string) => void;
  /** The message is the next turn's. */
  readonly sayQueued: () => Promise<void>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A harness that is just starting its turn takes what came meanwhile in a moment. */
const EARLY_MS = 600;

/**
 * Gives a message to its thread: into the turn that runs, where its harness takes that, else as a turn of its own, now
 * or after that one. Rejects with the server's words.
 */
export async function sendPrompt(follower: Follower, prompt: Prompt, deps: PromptDeps): Promise<void> {
  const { messageId, chatId, openId, inThread, input } = prompt;
  const threadId = follower.view.id;
  const clientUserMessageId = `feishu:${messageId}`;
  const first = input.find((part) => part.type === "text");
  deps.beginnings.put(clientUserMessageId, { threadId, place: { chatId, replyTo: messageId, inThread }, startedBy: openId, title: first?.type === "text" ? first.text : "🖼️" });
  // A process that died between the server's answer and its own note would send the message twice.
  if (prompt.isRecovered) {
    const sent = await turnOf(threadId, clientUserMessageId, deps);
    if (sent !== null) return takeUp(follower, sent, clientUserMessageId, deps);
    if (await isWaiting(threadId, clientUserMessageId, deps)) return;
  }
  const params = { threadId, clientUserMessageId, input, foldcast: { sender: { channel: CHANNEL, chatId, senderId: openId } } };
  const running = follower.runningTurn;
  if (running !== null && (await isSteered(running.id, params, deps))) return afterSteering(threadId, clientUserMessageId, deps);
  const answered = follower.expect();
  try {
    const { turn } = await deps.request<{ turn: Turn }>("turn/start", params);
    deps.noteThread(threadId);
    if (running !== null && turn.id === running.id) await afterSteering(threadId, clientUserMessageId, deps);
    else follower.begin(turn.id, clientUserMessageId);
  } catch (error) {
    deps.beginnings.delete(clientUserMessageId);
    throw error;
  } finally {
    answered();
  }
}

/** False where the turn has ended, or its harness takes nothing while it works: then the message is the next turn's. */
async function isSteered(expectedTurnId: string, params: object, { request }: PromptDeps): Promise<boolean> {
  try {
    await request("turn/steer", { ...params, expectedTurnId });
    return true;
  } catch {
    return false;
  }
}

/** The server has taken it: into the turn, or to wait for the next one, which the person should know. */
async function afterSteering(threadId: string, clientId: string, deps: PromptDeps): Promise<void> {
  deps.noteThread(threadId);
  if (await isWaiting(threadId, clientId, deps)) {
    await deps.sleep(EARLY_MS);
    if (await isWaiting(threadId, clientId, deps)) return deps.sayQueued();
  }
  // What is known of it stays until it is seen in a turn: that one may just have ended, and the message has begun another.
}

async function isWaiting(threadId: string, clientId: string, { request }: PromptDeps): Promise<boolean> {
  try {
    const { data } = await request<{ data: { clientUserMessageId?: string | null }[] }>("thread/queue/list", { threadId, limit: 100 });
    return data.some(({ clientUserMessageId }) => clientUserMessageId === clientId);
  } catch {
    return false;
  }
}

/** The turn that holds this message already; null also where nobody can say. */
async function turnOf(threadId: string, clientId: string, { request }: PromptDeps): Promise<Turn | null> {
  try {
    const { data } = await request<{ data: Turn[] }>("thread/turns/list", { threadId, limit: 10, sortDirection: "desc", itemsView: "full" });
    return data.find(({ items }) => items.some((item) => item.type === "userMessage" && item.clientId === clientId)) ?? null;
  } catch {
    return null;
  }
}

function takeUp(follower: Follower, turn: Turn, clientId: string, { beginnings }: PromptDeps): void {
  follower.know(turn);
  // Added to a turn that another message began, it has no card of its own.
  if (turn.items.find((item) => item.type === "userMessage")?.clientId === clientId) follower.begin(turn.id, clientId);
  else beginnings.delete(clientId);
}
