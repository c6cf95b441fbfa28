import type { AcpTeller, PromptAnswer, TellerPort } from "@foldcast/adapter-kit/acp";
import { DiagnosticCounter } from "@foldcast/adapter-kit";
import type { HarnessEvent, TurnInput, TurnOutcome } from "@foldcast/protocol-core/harness";
import { startsAgents } from "../history/children.ts";
import { FileTexts } from "../history/edits.ts";
import type { NotedLine, WireNote } from "../history/notes.ts";
import type { SideFiles } from "../history/side-files.ts";
import { keyOf } from "../history/turn-list.ts";
import { TurnReader } from "../history/turn-reader.ts";
import { TurnMerge } from "./turn-merge.ts";
import { nextTurnOf, WireTail } from "./wire-tail.ts";

type Note<T extends WireNote["type"]> = Extract<WireNote, { type: T }>;

interface Ending {
  outcome: TurnOutcome;
  durationMs: number | null;
}

interface LiveTurn {
  reader: TurnReader;
  merge: TurnMerge;
  files: FileTexts;
  compaction: boolean;
  /** The prompt that it answers; null = the agent began it by itself. */
  prompt: Prompt | null;
  /** The file says that it began. */
  recorded: boolean;
  /** What the file says of its end. */
  ending: Ending | null;
  /** The file says that the context is made shorter in this turn. */
  compacts: boolean;
}

interface Prompt {
  input: TurnInput | null;
  /** What streamed before the turn's beginning was read. */
  early: HarnessEvent[];
  answer: PromptAnswer | null;
  over: boolean;
  onOver(): void;
}

/** How long the file may be behind the answer to a prompt. */
const FILE_PATIENCE_MS = 3000;
const POLL_MS = 20;
/** Commands that `kimi acp` (2.1.0) answers itself: no turn begins, and nothing of them is written. */
const LOCAL_COMMANDS = /^\/(?:status|usage|mcp|tasks|help)\b/;
const UNKNOWN_COMMAND = /^Unknown ACP command: \//;

/**
 * Tells the turns of a Kimi session by its `wire.jsonl`, with what ACP streams shown as soon as it comes. ACP says
 * nothing of turns that the agent begins by itself, answers a failed turn like a good one, and knows no usage and no
 * sub-agents (Kimi Code 2.1.0).
 */
export class WireTeller implements AcpTeller {
  readonly #port: TellerPort;
  readonly #session: { sessionId: string; cwd: string };
  readonly #side: SideFiles;
  #tail!: WireTail;
  #turn: LiveTurn | null = null;
  #prompt: Prompt | null = null;
  #model: string | null = null;
  /** Number of the next turn, as the program counts them. */
  #nextTurn: number;
  /** Tasks in the background: each may begin a turn when it ends. */
  readonly #tasks = new Set<string>();
  /** A turn of the agent's own runs in the place of the one that was begun for a prompt. */
  #foreign = false;
  #closed = false;

  private constructor(port: TellerPort, session: { sessionId: string; cwd: string }, side: SideFiles, nextTurn: number) {
    this.#nextTurn = nextTurn;
    this.#port = port;
    this.#session = session;
    this.#side = side;
  }

  static async start(port: TellerPort, session: { sessionId: string; file: string; cwd: string }, side: SideFiles): Promise<WireTeller> {
    const teller = new WireTeller(port, session, side, await nextTurnOf(session.file));
    teller.#tail = await WireTail.start(session.file, side, (line) => teller.#line(line));
    return teller;
  }

  get busy(): boolean {
    return this.#turn !== null && this.#turn.prompt === null;
  }

  /** The file comes too late for the first words of an answer: a turn that is sure to begin begins at once. */
  begin(input: TurnInput | null): void {
    // Who types no more than that asks for what a client does when it compacts.
    const isCompact = commandOf(input)?.trim() === "/compact" && input?.input.length === 1;
    const prompt: Prompt = { input: isCompact ? null : input, early: [], answer: null, over: false, onOver: () => undefined };
    this.#prompt = prompt;
    this.#tail.busy = true;
    const isCommand = commandOf(input) !== null;
    if (input !== null && !isCommand && this.#turn === null && this.#tasks.size === 0) this.#open(`turn-${this.#nextTurn}`, null, prompt);
  }

  told(events: readonly HarnessEvent[]): void {
    if (this.#turn !== null) this.#port.emit(this.#turn.merge.early(events));
    else if (this.#prompt !== null) this.#prompt.early.push(...events);
  }

  async answered(answer: PromptAnswer): Promise<void> {
    const prompt = this.#prompt;
    if (prompt === null || prompt.over) return;
    prompt.answer = answer;
    if (this.#turn?.prompt === prompt && this.#turn.ending !== null) return this.#finish(this.#turn);
    if (this.#turn?.prompt !== prompt && isLocal(prompt)) return this.#tellLocal(prompt, answer);
    // A turn of the agent's own that goes before it may take as long as it likes.
    await this.#until(() => prompt.over || (this.#turn !== null && this.#turn.prompt !== prompt), answer.last ? POLL_MS * 10 : FILE_PATIENCE_MS);
    if (isOver(prompt)) return;
    const turn = this.#turn;
    if (turn !== null && turn.prompt !== prompt && !answer.last) return new Promise((resolve) => (prompt.onOver = resolve));
    if (turn?.prompt === prompt) return this.#finish(turn, { outcome: answer.outcome, durationMs: null });
    this.#tellLocal(prompt, answer);
  }

  /** ACP can only stop what it was asked for; closing the session stops the rest, and it goes on at once (2.1.0). */
  async cancelOwn(): Promise<void> {
    const turn = this.#turn;
    if (turn === null) return;
    const { sessionId, cwd } = this.#session;
    await this.#port.request("session/close", { sessionId });
    await this.#port.request("session/resume", { sessionId, cwd, mcpServers: [] });
    await this.#until(() => this.#turn !== turn, FILE_PATIENCE_MS);
    if (this.#turn === turn) this.#finish(turn, { outcome: { status: "cancelled" }, durationMs: null });
  }

  async settle(): Promise<void> {
    await this.#tail.read().catch(() => false);
    const turn = this.#turn;
    if (turn === null) return;
    this.#turn = null;
    // As its file will be read: the fault is the end of the turn.
    const ends = turn.merge.late(turn.reader.end({ status: "unknown" }, this.#port.now(), null));
    this.#port.emit(ends.filter((event) => event.type !== "turn.completed"));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const turn = this.#turn;
    if (turn !== null) this.#finish(turn, { outcome: { status: "cancelled", reason: "The session was closed." }, durationMs: null });
    await this.#tail.stop();
  }

  async #until(done: () => boolean, patienceMs: number): Promise<void> {
    const deadline = this.#port.now() + patienceMs;
    while (!done() && this.#port.now() < deadline) {
      await this.#tail.read();
      if (done()) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async #line(line: NotedLine): Promise<void> {
    if (this.#closed) return;
    for (const note of line.notes) {
      if (note.type === "model") this.#model = note.model;
      else if (note.type === "task") this.#taskChanged(note);
      else if (note.type === "prompt") this.#began(note, line.at);
      else if (note.type === "compaction" && this.#turn === null && note.phase === "begin") {
        this.#open(`compaction-${line.at ?? this.#port.newId()}`, null, this.#compactionAsked(), true);
      }
      const turn = this.#turn;
      if (turn === null) continue;
      if (note.type === "compaction") {
        if (note.phase === "begin") turn.compacts = true;
        // A last word on a compaction that ended before this turn began.
        else if (!turn.compacts) continue;
      }
      if (note.type === "fileBefore") await this.#learn(turn.files, note);
      // Times are those of this process's clock, as for what streams.
      this.#port.emit(turn.merge.late(turn.reader.feed({ at: this.#port.now(), notes: [note] })).map((event) => this.#withWindow(event)));
      if (note.type === "end" && this.#foreign) this.#foreign = false;
      else if (note.type === "end") this.#ended(turn, { outcome: note.outcome, durationMs: note.durationMs });
      else if (turn.compaction && note.type === "compaction" && note.phase !== "begin") {
        this.#ended(turn, { outcome: { status: note.phase === "done" ? "succeeded" : "cancelled" }, durationMs: null });
      }
    }
  }

  /** The prompt that asks for a compaction; null = the agent begins it by itself. */
  #compactionAsked(): Prompt | null {
    const prompt = this.#prompt;
    return prompt !== null && (prompt.input === null || /^\/compact\s/.test(commandOf(prompt.input) ?? "")) ? prompt : null;
  }

  #taskChanged({ id, running }: Note<"task">): void {
    const before = this.#tasks.size;
    this.#tasks[running ? "add" : "delete"](id);
    if (this.#tasks.size !== before) this.#port.emit([{ type: "session.state", state: { backgroundTasks: this.#tasks.size }, at: this.#port.now() }]);
  }

  /** The file says that a turn began. */
  #began(note: Note<"prompt">, at: number | null): void {
    if (note.turnId !== null) this.#nextTurn = note.turnId + 1;
    const turn = this.#turn;
    if (turn?.prompt != null && !turn.recorded) {
      // What the agent does first by itself is told within the turn that is open.
      if (note.byPerson) turn.recorded = true;
      else this.#foreign = true;
      return;
    }
    // The file never begins a turn in another one; a program that was stopped may have left one open.
    if (turn !== null) this.#finish(turn, { outcome: turn.prompt?.answer?.outcome ?? { status: "cancelled" }, durationMs: null });
    const prompt = note.byPerson && this.#prompt !== null && !this.#prompt.over && this.#prompt.input !== null ? this.#prompt : null;
    this.#open(keyOf(note) ?? `turn-${at ?? this.#port.newId()}`, note, prompt);
  }

  #open(key: string, note: Note<"prompt"> | null, prompt: Prompt | null, compaction = false): void {
    const files = new FileTexts(this.#session.cwd);
    const reader = new TurnReader({ sessionId: this.#session.sessionId, files, diagnostics: new DiagnosticCounter() });
    const turn: LiveTurn = { reader, merge: new TurnMerge(endsInTheFile), files, compaction, prompt, recorded: note !== null, ending: null, compacts: false };
    this.#turn = turn;
    this.#tail.busy = true;
    const byPerson = prompt === null ? note?.byPerson === true : prompt.input !== null;
    this.#port.emit(reader.start({
      key, at: this.#port.now(), input: prompt?.input?.input ?? note?.input ?? [], byPerson, notice: note?.notice ?? null, model: this.#model,
      ...(prompt?.input == null ? {} : { clientId: prompt.input.clientId }),
    }));
    if (prompt !== null) this.#port.emit(turn.merge.early(prompt.early.splice(0)));
  }

  async #learn(files: FileTexts, { path, key }: Note<"fileBefore">): Promise<void> {
    const text = key === null ? null : await this.#side.copy(key);
    if (key === null || text !== null) files.know(path, text);
  }

  #withWindow(event: HarnessEvent): HarnessEvent {
    const contextWindow = this.#port.contextWindow();
    return event.type === "usage.updated" && contextWindow !== null ? { ...event, usage: { contextWindow, ...event.usage } } : event;
  }

  /** The file says that the turn is over. A prompt is over when ACP says so too: before that the next one is refused. */
  #ended(turn: LiveTurn, ending: Ending): void {
    turn.ending = ending;
    if (turn.prompt === null || turn.prompt.answer !== null) this.#finish(turn);
  }

  #finish(turn: LiveTurn, fallback?: Ending): void {
    if (this.#turn !== turn) return;
    this.#turn = null;
    this.#foreign = false;
    const { outcome, durationMs } = turn.ending ?? fallback ?? { outcome: { status: "unknown" }, durationMs: null };
    const at = this.#port.now();
    const events = turn.merge.late(turn.reader.end(outcome, at, durationMs));
    this.#port.emit([...events.slice(0, -1), ...turn.merge.close(outcome, at), ...events.slice(-1)]);
    this.#over(turn.prompt);
  }

  /** The program answered by itself: nothing of it is in the file. */
  #tellLocal(prompt: Prompt, { outcome, end }: PromptAnswer): void {
    const at = this.#port.now();
    const { input = [], clientId = null } = prompt.input ?? {};
    this.#port.emit([
      { type: "turn.started", turnKey: `local-${this.#port.newId()}`, at, input, clientId, origin: prompt.input === null ? "agent" : "user" },
      ...prompt.early.splice(0), ...end(), { type: "turn.completed", outcome, at },
    ]);
    this.#over(prompt);
  }

  #over(prompt: Prompt | null): void {
    if (prompt !== null) {
      prompt.over = true;
      if (this.#prompt === prompt) this.#prompt = null;
      prompt.onOver();
    }
    this.#tail.busy = this.#prompt !== null || this.#turn !== null;
  }
}

/** `/name …` as the program itself tells a command from other text; null for a prompt. */
function commandOf(input: TurnInput | null): string | null {
  const [first] = input?.input ?? [];
  return first?.type === "text" && /^\/\s*[^\s/]+(?:\s|$)/.test(first.text) ? first.text : null;
}

function isLocal({ input, early }: Prompt): boolean {
  const command = commandOf(input);
  if (command === null) return false;
  const said = early.flatMap((event) => (event.type === "item.updated" && event.update.type === "text" ? [event.update.append] : [])).join("");
  return LOCAL_COMMANDS.test(command) || UNKNOWN_COMMAND.test(said);
}

/** Of these calls the file knows more than the stream: the texts around a change, and the sub-agents. */
function endsInTheFile(name: string): boolean {
  return name === "Edit" || name === "Write" || startsAgents(name);
}

/** Asked anew after a wait: it may have ended meanwhile. */
function isOver(prompt: Prompt): boolean {
  return prompt.over;
}
