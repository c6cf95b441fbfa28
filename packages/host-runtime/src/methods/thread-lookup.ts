import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { Host } from "../host.ts";
import type { ThreadActor } from "../threads/actor.ts";
import type { KnownThread } from "../threads/registry.ts";
import { parseThreadId } from "./thread-id.ts";

/** The loaded thread, or the real server's refusal. */
export function loadedThread(host: Host, threadId: string): ThreadActor {
  const id = parseThreadId(threadId);
  const actor = host.threads.loaded(id);
  if (actor === null) throw invalidRequest(`thread not found: ${id}`);
  return actor;
}

/** A thread to read from, loaded or not. */
export async function readableThread(host: Host, threadId: string): Promise<KnownThread> {
  const id = parseThreadId(threadId);
  const known = await host.threads.find(id);
  if (known === null) throw invalidRequest(`thread not loaded: ${id}`);
  return known;
}

/** A stored thread that may go on: one that was put away has to be taken out again first, as with Codex 0.171. */
export async function openThread(host: Host, threadId: string, what?: string): Promise<KnownThread> {
  const known = await storedThread(host, threadId, what);
  const { id, archived } = known.record;
  if (archived) throw invalidRequest(`session ${id} is archived. Run \`codex unarchive ${id}\` to unarchive it first.`);
  return known;
}

/** The same for what the real server does with loaded threads only, and says so; here any that can be loaded will do. */
export async function loadedOrStored(host: Host, threadId: string): Promise<KnownThread> {
  const id = parseThreadId(threadId);
  const known = await host.threads.find(id);
  if (known === null || known.record.ephemeral || known.record.archived) throw invalidRequest(`thread not found: ${id}`);
  return known;
}

/** Refuses what Codex 0.171 does not do for ephemeral threads, in its own words. */
export function demandKept(host: Host, threadId: string, what: string): void {
  const id = parseThreadId(threadId);
  if (host.threads.loaded(id)?.record.ephemeral === true) throw invalidRequest(`ephemeral thread does not support ${what}: ${id}`);
}

/** A thread whose record can be changed: one that is loaded, stored or found, and not ephemeral. */
export async function storedThread(host: Host, threadId: string, what?: string): Promise<KnownThread> {
  const id = parseThreadId(threadId, what);
  const known = await host.threads.find(id);
  if (known === null || known.record.ephemeral) throw invalidRequest(`no rollout found for thread id ${id}`);
  return known;
}
