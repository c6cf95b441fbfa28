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

/** A thread whose record can be changed: one that is loaded, stored or found, and not ephemeral. */
export async function storedThread(host: Host, threadId: string, what?: string): Promise<KnownThread> {
  const id = parseThreadId(threadId, what);
  const known = await host.threads.find(id);
  if (known === null || known.record.ephemeral) throw invalidRequest(`no rollout found for thread id ${id}`);
  return known;
}
