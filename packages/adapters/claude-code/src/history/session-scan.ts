import type { FileHandle } from "node:fs/promises";
import { type DiagnosticCounter, sampleOf, scanLines, filledString, firstWords, objectOf, parseRecord } from "@foldcast/adapter-kit";
import { failureOf, turnLimitFailure } from "./failure.ts";
import { factsOf, isOwnLine, type LineFacts, SILENT_TYPES } from "./line.ts";
import { isCutOff, isFiller, type SessionRecord } from "./record.ts";
import { type KeptTurnList, type LinePlace, TurnList, type TypedLine } from "./turn-list.ts";
import { commandOutput, readUserLine } from "./user-content.ts";

/** Attachments that the conversation shows; the other kinds, over thirty, are context for the model. */
const QUEUED_COMMAND = "queued_command";
const TITLE_CHARACTERS = 500;
const MAX_SUMMARIES = 100;

/** A scan as JSON. */
export interface KeptScan {
  main: KeptTurnList;
  side: KeptTurnList;
  lines: number;
  cwd: string | null;
  sessionId: string | null;
  agentId: string | null;
  scanned: number;
  firstId: string | null;
  lastId: string | null;
  forkedFrom: string | null;
  early: LinePlace[];
  customTitle: string | null;
  madeTitle: string | null;
  summaries: [string, string][];
  seen: string[];
}

/**
 * Everything known of a session file up to some byte. Lines are fed in the order of the file, and again from there
 * when the file has grown.
 */
export class SessionScan {
  /** Lines of the session itself. */
  readonly main: TurnList;
  /** Lines of sub-agents; all there is in a sub-agent's own file. */
  readonly side: TurnList;
  /** Lines that only Claude Code writes, shown or not. */
  lines = 0;
  cwd: string | null = null;
  sessionId: string | null = null;
  agentId: string | null = null;
  scanned = 0;
  /** Ids of the conversation's first and last line. */
  firstId: string | null = null;
  lastId: string | null = null;
  /** The session that this one is a copy of. */
  forkedFrom: string | null = null;
  #customTitle: string | null = null;
  #madeTitle: string | null = null;
  /** Last line of a conversation → what it was about. Old files begin with those of other sessions. */
  readonly #summaries: Map<string, string>;
  readonly #seen: Set<string>;
  /** What was put into the program's queue last, where that is a command. */
  #typed: TypedLine | null = null;
  /** Lines before the first turn that are shown in it: a sub-agent's, and unknown ones. */
  #early: LinePlace[] = [];
  readonly #diagnostics: DiagnosticCounter;
  readonly #ofSubAgent: boolean;

  /** `ofSubAgent`: the file's name says that it is a sub-agent's own. `kept`: what an earlier scan of the file gave. */
  constructor(diagnostics: DiagnosticCounter, ofSubAgent: boolean, kept: KeptScan | null = null) {
    this.#diagnostics = diagnostics;
    this.#ofSubAgent = ofSubAgent;
    this.main = kept === null ? new TurnList() : TurnList.restore(kept.main);
    this.side = kept === null ? new TurnList() : TurnList.restore(kept.side);
    this.#summaries = new Map(kept?.summaries);
    this.#seen = new Set(kept?.seen);
    if (kept === null) return;
    ({ lines: this.lines, cwd: this.cwd, sessionId: this.sessionId, agentId: this.agentId, scanned: this.scanned } = kept);
    ({ firstId: this.firstId, lastId: this.lastId, forkedFrom: this.forkedFrom, early: this.#early, customTitle: this.#customTitle, madeTitle: this.#madeTitle } = kept);
  }

  /** To go on from later; null while it holds a text of the conversation. */
  keep(): KeptScan | null {
    const [main, side] = [this.main.keep(), this.side.keep()];
    if (main === null || side === null || this.#typed !== null) return null;
    return {
      main, side, lines: this.lines, cwd: this.cwd, sessionId: this.sessionId, agentId: this.agentId, scanned: this.scanned, firstId: this.firstId,
      lastId: this.lastId, forkedFrom: this.forkedFrom, early: this.#early, customTitle: this.#customTitle, madeTitle: this.#madeTitle, summaries: [...this.#summaries], seen: [...this.#seen],
    };
  }

  /** The name that the person gave, else the one made by the harness. */
  get title(): string | null {
    return this.#customTitle ?? this.#madeTitle ?? this.#ownSummary();
  }

  /** A file with nothing but sub-agent lines is a sub-agent's own: they are its turns. */
  get ownTurns(): TurnList {
    return this.main.empty ? this.side : this.main;
  }

  get isSubAgent(): boolean {
    return this.main.empty && !this.side.empty;
  }

  /**
   * Reads on, to the end of the file or to `to`. With `from` behind what is scanned, what lies between is left out: enough
   * for what a list shows, never for an index.
   */
  async read(file: FileHandle, { from = this.scanned, to }: { from?: number; to?: number } = {}): Promise<void> {
    // Somewhere in a line, as a rule.
    let broken = from > this.scanned;
    const result = await scanLines(file, (bytes, start, end, offset, ended) => {
      if (broken) return void (broken = false);
      if (this.#line(bytes, start, end, offset)) {
        if (!ended) this.scanned = offset + (end - start);
      } else if (ended) this.#repair(bytes, start, end, offset);
      else this.#diagnostics.count("line.unfinished", sampleOf(bytes, start, end));
    }, { from, ...(to === undefined ? {} : { to }) });
    // A last line that is whole counts as read without its newline; a cut one is looked at again when the file grows.
    this.scanned = Math.max(this.scanned, result.unendedFrom);
    if (result.oversized > 0) this.#diagnostics.count("line.tooLong", null, result.oversized);
  }

  /**
   * A process that was killed leaves half a line, and the next one writes on behind it: the whole line at the end of
   * such a line is still good.
   */
  #repair(bytes: Buffer, start: number, end: number, offset: number): void {
    this.#diagnostics.count("line.malformed", sampleOf(bytes, start, end));
    let at = start;
    for (let tries = 0; tries < 64; tries++) {
      // Not in the lines behind it, of which there may be a megabyte.
      const next = bytes.subarray(at + 1, end).indexOf("{\"");
      if (next === -1) return;
      at += 1 + next;
      const name = bytes.toString("latin1", at + 2, at + 20);
      if (/^(?:parentUuid|type|uuid|sessionId|isSidechain)"/.test(name) && this.#line(bytes, at, end, offset + (at - start))) return;
    }
  }

  /** False when the bytes are no line at all. */
  #line(bytes: Buffer, start: number, end: number, offset: number): boolean {
    const record = parseRecord(bytes.toString("utf8", start, end));
    const facts = record === null ? null : factsOf(record);
    if (record === null || facts === null) return false;
    if (isOwnLine(facts, record)) this.lines++;
    const aside = record["isSidechain"] === true || this.#ofSubAgent;
    this.#describe(record, aside);
    const into = aside ? this.side : this.main;
    into.chain(facts);
    if (facts.type === "queue-operation") this.#queued(record, { offset, length: end - start });
    if (SILENT_TYPES.has(facts.type)) return true;
    if (facts.uuid !== null) {
      // Resuming, forking and a second compaction copy lines with their ids.
      if (this.#seen.has(facts.uuid)) {
        this.#diagnostics.count("line.copy", facts.uuid);
        return true;
      }
      this.#seen.add(facts.uuid);
      if (!aside && facts.hasMessage) {
        this.firstId ??= facts.uuid;
        this.lastId = facts.uuid;
      }
    }
    const place = { offset, length: end - start };
    this.#sort(into, facts, record, place);
    if (aside) {
      if (!this.main.attach(place)) this.#early.push(place);
    } else if (this.#early.length > 0 && !this.main.empty) {
      for (const early of this.#early) this.main.attach(early);
      this.#early = [];
    }
    return true;
  }

  /** The first session and folder stay: copies of older sessions come first only in files whose name says more. */
  #describe(record: SessionRecord, aside: boolean): void {
    this.sessionId ??= filledString(record["sessionId"]);
    this.cwd ??= filledString(record["cwd"]);
    if (aside) this.agentId ??= filledString(record["agentId"]);
    else this.forkedFrom = copiedFrom(record) ?? this.forkedFrom;
    if (record["type"] === "custom-title") this.#customTitle = titleOf(record["customTitle"]) ?? this.#customTitle;
    else if (record["type"] === "ai-title") this.#madeTitle = titleOf(record["aiTitle"]) ?? this.#madeTitle;
    else if (record["type"] === "summary") {
      const [leaf, title] = [filledString(record["leafUuid"]), titleOf(record["summary"])];
      if (leaf !== null && title !== null && this.#summaries.size < MAX_SUMMARIES) this.#summaries.set(leaf, title);
    }
  }

  #queued(record: SessionRecord, place: LinePlace): void {
    const text = filledString(record["content"]);
    if (record["operation"] === "enqueue") this.#typed = text?.startsWith("/") === true ? { text, place } : null;
  }

  #ownSummary(): string | null {
    let own: string | null = null;
    for (const [leaf, title] of this.#summaries) if (this.#seen.has(leaf)) own = title;
    return own;
  }

  #sort(into: TurnList, facts: LineFacts, record: SessionRecord, place: LinePlace): void {
    switch (facts.type) {
      case "assistant":
        if (isFiller(record)) into.cutOff();
        else if (facts.speaks) into.assistant(facts, place, failureOf(record));
        return;
      case "user":
        return this.#user(into, facts, record, place);
      case "attachment": {
        const { type } = objectOf(record["attachment"]);
        if (type === QUEUED_COMMAND) into.member(facts, place);
        else if (type === "max_turns_reached") into.fail(turnLimitFailure(record));
        return;
      }
      case "system": {
        const { durationMs } = record;
        if (facts.subtype === "compact_boundary") into.boundary(facts, place);
        else if (facts.subtype === "api_error") into.member(facts, place);
        else if (facts.subtype === "local_command") this.#command(into, facts, record, place);
        else if (facts.subtype === "turn_duration" && typeof durationMs === "number" && durationMs >= 0) into.duration(durationMs);
        // The rest is output of local commands, reports of hooks and notes of the terminal: for the person at that
        // terminal, not part of the exchange. As items they would stand behind an answer and keep its turn open.
        return;
      }
      default:
        this.#diagnostics.count("line.unknownType", facts.type);
        // State of the program has neither an id in the chain nor a message.
        if (facts.uuid === null && !facts.hasMessage) return;
        // Before the first turn it would be taken for a turn of its own.
        if (!into.empty) into.member(facts, place);
        else if (into === this.main) this.#early.push(place);
    }
  }

  /** What a command of the program printed; its own line, where it is one that this program cannot run. */
  #command(into: TurnList, facts: LineFacts, record: SessionRecord, place: LinePlace): void {
    const content = filledString(record["content"]) ?? "";
    const key = filledString(record["submitUuid"]);
    if (key !== null) return into.command({ ...facts, uuid: key }, place, content);
    into.output(facts, place);
    if (objectOf(record["commandOutcome"])["kind"] === "failed") into.failCommand({ message: commandOutput(content) ?? "The command failed." });
  }

  #user(into: TurnList, facts: LineFacts, record: SessionRecord, place: LinePlace): void {
    if (record["isCompactSummary"] === true) into.summary(facts, place);
    else if (facts.hidden && !facts.blocks.some((block) => block.isResult)) into.hiddenUser(facts, place);
    else {
      into.user(facts, place, readUserLine(record), this.#typed);
      this.#typed = null;
      if (isCutOff(record)) into.cutOff();
    }
  }
}

/** The session that a line was copied from: the mark of a fork, and what `--fork-session` of 2.1.332 leaves on answers. */
function copiedFrom(record: SessionRecord): string | null {
  const marked = record["forkedFrom"] === undefined ? null : filledString(objectOf(record["forkedFrom"])["sessionId"]);
  const requested = filledString(record["requestSessionId"]);
  return marked ?? (requested === record["sessionId"] ? null : requested);
}

function titleOf(value: unknown): string | null {
  const text = filledString(value);
  return text === null ? null : filledString(firstWords(text, TITLE_CHARACTERS));
}
