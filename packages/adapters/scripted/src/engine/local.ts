import type { HarnessEnvironment, InteractionAnswer, TurnInput } from "@foldcast/protocol-core/harness";
import { TurnPlayer, type PlayerHost } from "../player/player.ts";
import type { PlayRequest } from "../player/state.ts";
import type { EngineSink, TurnEngine } from "./engine.ts";

/** After this many events without a pause, timers and sockets get their turn. */
const EVENTS_PER_PAUSE = 256;

/** Plays turns in this process. */
export class LocalEngine implements TurnEngine {
  readonly #host: PlayerHost;
  #player: TurnPlayer | null = null;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(environment: Pick<HarnessEnvironment, "now" | "sleep">, sink: EngineSink) {
    let sincePause = 0;
    this.#host = {
      now: () => environment.now(),
      sleep: (ms, signal) => environment.sleep(ms, signal),
      async emit(events) {
        const room = sink.emit(events);
        sincePause += events.length;
        if (sincePause >= EVENTS_PER_PAUSE) {
          sincePause = 0;
          await new Promise((resolve) => setImmediate(resolve));
        }
        await room;
      },
      crash: () => sink.fault({ message: "The scripted harness crashed, as its scenario says." }),
    };
  }

  async prepare(): Promise<void> {
    // The turn before may have sent its end and not yet returned.
    await this.#running;
  }

  start(request: PlayRequest): void {
    if (this.#closed) return;
    this.#player = new TurnPlayer(request, this.#host);
    this.#running = this.#player.run();
  }

  answer(interactionId: string, answer: InteractionAnswer): void {
    this.#player?.answer(interactionId, answer);
  }

  steer(input: TurnInput): void {
    this.#player?.steer(input);
  }

  cancel(): void {
    this.#player?.cancel();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#player?.stop();
    await this.#running;
  }
}
