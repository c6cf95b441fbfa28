import { RpcError } from "@foldcast/protocol-core/client";
import type { FeishuPort } from "../platform/port.ts";

/** Why the app cannot be used, and what to do about it. */
export function whyNot(outcome: Exclude<Awaited<ReturnType<FeishuPort["botInfo"]>>, { kind: "ok" }>): string {
  if (outcome.kind === "uncertain") return `Feishu does not answer: ${outcome.uncertainty.detail}`;
  const { kind, msg, code } = outcome.refusal;
  return kind === "unreachable" ? `Feishu cannot be reached: ${msg}` : `Feishu refuses the app: ${msg} (${code ?? kind}); foldcast doctor --feishu says what to do`;
}

/** The server is sure that it has no such thread; any other fault may pass. */
export function isUnknownThread(error: unknown): boolean {
  return error instanceof RpcError && /not found|no rollout|no such thread|invalid thread/i.test(error.message);
}

/** It was archived: it can be read, and goes on only when somebody takes it out again (the words of Codex 0.171). */
export function isArchived(error: unknown): boolean {
  return error instanceof RpcError && /is archived/.test(error.message);
}

/** What was thrown, as words. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
