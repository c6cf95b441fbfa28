import { isFor, toNotification, DESKTOP_POLICY, type DeliveryPolicy } from "@foldcast/protocol-core/delivery";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { TurnProjector } from "@foldcast/protocol-core/projection";

/** A fresh projector with nothing from a real harness: what it costs is the projection alone. */
export function newProjector(turnId: string): TurnProjector {
  return new TurnProjector({ turnId, threadId: "thread", cwd: "/repo", toolMaps: {}, defaultMap: "none", childThreadId: (ref) => ref });
}

/** Projects one turn as the host does for one client, and answers the bytes (UTF-16 units) of all notifications. */
export function projectTurn(turnId: string, events: Iterable<HarnessEvent>, policy: DeliveryPolicy = DESKTOP_POLICY): number {
  const projector = newProjector(turnId);
  let written = 0;
  for (const event of events) written += serialise(projector, event, turnId, policy);
  return written;
}

/** Applies one event and serialises every notification that it causes. */
export function serialise(projector: TurnProjector, event: HarnessEvent, turnId: string, policy: DeliveryPolicy): number {
  let written = 0;
  for (const output of projector.apply(event)) {
    if (!isFor(output, policy)) continue;
    const notification = toNotification(output, "thread", turnId);
    if (notification !== null) written += JSON.stringify(notification).length;
  }
  return written;
}

export const started = (turnKey: string): HarnessEvent => ({
  type: "turn.started",
  turnKey,
  at: 1_700_000_000_000,
  input: [{ type: "text", text: "Make the tests pass.", text_elements: [] }],
});
export const ended: HarnessEvent = { type: "turn.completed", outcome: { status: "succeeded" }, at: 1_700_000_060_000 };
