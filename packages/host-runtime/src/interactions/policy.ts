import type { DeliveryPolicy } from "@foldcast/protocol-core/delivery";
import type { InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import type { InputOrigin, Sender } from "@foldcast/protocol-core/interaction";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { Frame } from "../rpc/frame.ts";

/** A client that speaks for people: its name, and who of them may answer whatever is asked there. */
export interface ChannelIdentity {
  readonly name: string;
  readonly approvers: readonly string[];
}

/** One client that watches a thread. */
export interface Screen {
  readonly session: {
    readonly name: string;
    readonly interaction: boolean;
    readonly channel: ChannelIdentity | null;
    readonly policy: Pick<DeliveryPolicy, "messages">;
  } | null;
  send(frame: Frame): void;
  /** False for what it opted out of. */
  wants(method: string): boolean;
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
  /** The harness's own key of the turn; null where it has none yet. */
  readonly turnKey: string | null;
  readonly cwd: string;
  /** What it is about, as clients have it; null = none of the items. */
  readonly item: ThreadItem | null;
  /** Who started the turn, where a channel brought it. */
  readonly startedBy: Sender | null;
  /** False where a refusal has no place for words. */
  readonly takesDenyText: boolean;
  readonly screens: Screens;
  /** Gives the harness its answer; called at most once. `words` go in as input, once the harness has the answer. */
  answer(answer: InteractionAnswer, words: string | null): void;
  /** Sends what was chosen as input, as if it had been typed. */
  input(text: string, origin: InputOrigin): void;
  /** Ends the turn, unless it has ended. */
  interrupt(): void;
  /** What the thread waits for changed while its turn goes on. */
  waiting(flags: readonly WaitingFlag[]): void;
}

/**
 * Who answers what an agent asks. Every interaction that is opened is settled exactly once: by `home.answer`, or without
 * it where the harness itself let go of it (`closed`, `turnOver`). What nobody waits for, a quick reply, outlives its
 * turn and ends with the next one (`turnBegins`) or with the thread (`threadOver`).
 */
export interface InteractionPolicy {
  opened(request: InteractionRequest, home: InteractionHome): void;
  /** The harness waits no longer for this one. */
  closed(turnId: string, requestId: string): void;
  /** The turn ends, or was interrupted: the harness waits for nothing any more. Idempotent. */
  turnOver(turnId: string): void;
  turnBegins(threadId: string): void;
  threadOver(threadId: string): void;
}
