import type { HarnessError, HarnessEvent, InteractionAnswer, TurnInput } from "@foldcast/protocol-core/harness";
import type { PlayRequest } from "../player/state.ts";

/** Where an engine's events go. Neither call rejects or throws. */
export interface EngineSink {
  /** Takes the events at once and in order; resolves when more may come. */
  emit(events: HarnessEvent[]): Promise<void>;
  /** The engine is gone in the middle of a turn. */
  fault(error: HarnessError): void;
}

/** What plays the turns of one session: this process or a child. Everything that it does comes out at its sink. */
export interface TurnEngine {
  /** Must have resolved before `start`; rejects when no turn can be played. */
  prepare(): Promise<void>;
  /** The caller starts one turn at a time. */
  start(request: PlayRequest): void;
  /** These reach the running turn, or nothing when it has just ended. */
  answer(interactionId: string, answer: InteractionAnswer): void;
  steer(input: TurnInput): void;
  cancel(): void;
  /** Ends a running turn without another event. Idempotent, never rejects. */
  close(): Promise<void>;
}
