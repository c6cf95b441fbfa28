import type { DeliveryPolicy } from "@foldcast/protocol-core/delivery";
import type { InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { Frame } from "../rpc/frame.ts";

/** One client that watches a thread. */
export interface Screen {
  readonly session: { readonly name: string; readonly interaction: boolean; readonly policy: Pick<DeliveryPolicy, "messages"> } | null;
  send(frame: Frame): void;
}

/** All that watch one thread. */
export interface Screens {
  readonly subscribers: ReadonlySet<Screen>;
  /** Queues for each watcher, in order with the thread's other frames, the frame that is meant for it; null = none. */
  each(frameFor: (screen: Screen) => Frame | null): void;
}

export type WaitingFlag = "waitingOnApproval" | "waitingOnUserInput";

/** What an interaction needs of the thread in which it came up. No member throws. */
export interface InteractionHome {
  readonly threadId: string;
  readonly turnId: string;
  readonly cwd: string;
  /** What it is about, as clients have it; null = none of the items. */
  readonly item: ThreadItem | null;
  readonly screens: Screens;
  /** Gives the harness its answer; called at most once. */
  answer(answer: InteractionAnswer): void;
  /** Ends the turn, unless it has ended. */
  interrupt(): void;
  /** What the thread waits for changed while its turn goes on. */
  waiting(flags: readonly WaitingFlag[]): void;
}

/**
 * Who answers what an agent asks. Every interaction that is opened is settled exactly once: by `home.answer`, or without
 * it where the harness itself let go of it (`closed`, `turnOver`).
 */
export interface InteractionPolicy {
  opened(request: InteractionRequest, home: InteractionHome): void;
  /** The harness waits no longer for this one. */
  closed(turnId: string, requestId: string): void;
  /** The turn ends, or was interrupted: the harness waits for nothing any more. Idempotent. */
  turnOver(turnId: string): void;
}
