import { spawnLines, type LineChild } from "@foldcast/adapter-kit";
import type { HarnessEnvironment, HarnessEvent, InteractionAnswer, TurnInput } from "@foldcast/protocol-core/harness";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { PlayRequest } from "../player/state.ts";
import type { EngineSink, TurnEngine } from "./engine.ts";
import { CHILD_ARGUMENT, type ChildCommand } from "./protocol.ts";

/** The command that starts this program again as a child: from source and from a bundle alike. */
export function defaultChildCommand(): string[] {
  const program = process.argv[1];
  return [process.execPath, ...process.execArgv, ...(program === undefined ? [] : [program]), CHILD_ARGUMENT];
}

/**
 * Plays turns in a child process, as a real harness would run. The child is started with the first turn; one that died
 * between two turns is replaced with the next, one that dies during a turn is a fault.
 */
export class ChildEngine implements TurnEngine {
  readonly #command: readonly string[];
  readonly #sink: EngineSink;
  readonly #log: HarnessEnvironment["log"];
  readonly #abort = new AbortController();
  #child: LineChild | null = null;
  #pumping: Promise<void> = Promise.resolve();
  #turnRuns = false;
  /** The turn that the child was told to play and has not begun. */
  #begins: PlayRequest | null = null;

  constructor(command: readonly string[], sink: EngineSink, log: HarnessEnvironment["log"]) {
    this.#command = command;
    this.#sink = sink;
    this.#log = log;
  }

  async prepare(): Promise<void> {
    if (this.#child?.running === true) return;
    // One that has died between two turns is still being taken down.
    await this.#pumping;
    this.#pumping = this.#pump(await this.#spawn());
  }

  async #spawn(): Promise<LineChild> {
    return (this.#child = await spawnLines({ command: this.#command, graceMs: 1000, signal: this.#abort.signal }));
  }

  start(request: PlayRequest): void {
    this.#turnRuns = true;
    this.#begins = request;
    // A child that is gone shows at the end of its lines.
    this.#send({ do: "start", request });
  }

  answer(interactionId: string, answer: InteractionAnswer): void {
    this.#send({ do: "answer", interactionId, answer });
  }

  steer(input: TurnInput): void {
    this.#send({ do: "steer", input });
  }

  cancel(): void {
    this.#send({ do: "cancel" });
  }

  async close(): Promise<void> {
    this.#turnRuns = false;
    this.#abort.abort();
    await this.#child?.close();
  }

  #send(command: ChildCommand): void {
    this.#child?.send(command).catch((error: unknown) => this.#log("debug", "The scripted child did not take a command", { error: String(error) }));
  }

  async #pump(first: LineChild): Promise<void> {
    let exit = await this.#forward(first);
    if (this.#begins !== null && !this.#abort.signal.aborted) {
      // It was dead when it was told to begin, and nobody had noticed: nothing of the turn was played.
      const next = await this.#spawn();
      this.#send({ do: "start", request: this.#begins });
      this.#begins = null;
      exit = await this.#forward(next);
    }
    this.#child = null;
    if (!this.#turnRuns) return;
    this.#turnRuns = false;
    const how = exit.signal === null ? `exit code ${exit.code ?? "unknown"}` : `signal ${exit.signal}`;
    this.#sink.fault({ message: `The scripted process ended unexpectedly (${how}).`, details: exit.stderr === "" ? null : exit.stderr });
  }

  /** Passes on what the child says, until it has ended. */
  async #forward(child: LineChild): Promise<Awaited<LineChild["exited"]>> {
    for await (const lines of child.lines) {
      const events = lines.flatMap((line) => this.#parse(line));
      if (events.length > 0) this.#begins = null;
      for (const event of events) if (event.type === "turn.completed" || event.type === "fault") this.#turnRuns = false;
      if (events.length > 0 && !this.#abort.signal.aborted) await this.#sink.emit(events);
    }
    return child.exited;
  }

  #parse(line: string): HarnessEvent[] {
    try {
      const event: unknown = JSON.parse(line);
      if (isJsonObject(event) && typeof event["type"] === "string") return [event as unknown as HarnessEvent];
    } catch {
      // Reported below.
    }
    this.#log("warn", "The scripted child wrote a line that is no event", { line: line.slice(0, 200) });
    return [];
  }
}
