import type { ProjectorOutput } from "../projection/outputs.ts";
import type { Notification } from "../wire/index.ts";
import type { DeliveryPolicy } from "./policy.ts";

/** True when a client of this policy is to see the output. */
export function isFor(output: ProjectorOutput, policy: DeliveryPolicy): boolean {
  const audience = output.audience;
  if (audience === undefined) return true;
  return (audience.messages === undefined || audience.messages === policy.messages)
    && (audience.edits === undefined || audience.edits === policy.edits);
}

/**
 * The notification for an output, or null where the output is not one (usage, interactions and the diff are the
 * host's to send: they need its totals, its request ids and its clock). Stateless; call after `isFor`.
 */
export function toNotification(output: ProjectorOutput, threadId: string, turnId: string): Notification | null {
  switch (output.type) {
    case "turn.started":
      return { method: "turn/started", params: { threadId, turn: output.turn } };
    case "turn.completed":
      return { method: "turn/completed", params: { threadId, turn: output.turn } };
    case "item.started":
      return { method: "item/started", params: { threadId, turnId, item: output.item, startedAtMs: output.at } };
    case "item.completed":
      return { method: "item/completed", params: { threadId, turnId, item: output.item, completedAtMs: output.at } };
    case "message.delta":
      return { method: "item/agentMessage/delta", params: { threadId, turnId, itemId: output.itemId, delta: output.delta } };
    case "output.delta":
      return { method: "item/commandExecution/outputDelta", params: { threadId, turnId, itemId: output.itemId, delta: output.delta } };
    case "reasoning.part":
      return { method: "item/reasoning/summaryPartAdded", params: { threadId, turnId, itemId: output.itemId, summaryIndex: output.index } };
    case "reasoning.delta":
      return {
        method: "item/reasoning/summaryTextDelta",
        params: { threadId, turnId, itemId: output.itemId, delta: output.delta, summaryIndex: output.index },
      };
    case "patch.updated":
      return { method: "item/fileChange/patchUpdated", params: { threadId, turnId, itemId: output.itemId, changes: output.changes } };
    case "plan.updated":
      return { method: "turn/plan/updated", params: { threadId, turnId, explanation: output.explanation, plan: output.plan } };
    case "error":
      return { method: "error", params: { threadId, turnId, error: output.error, willRetry: output.willRetry } };
    case "usage.updated":
    case "diff.changed":
    case "interaction.opened":
    case "interaction.closed":
      return null;
  }
}
