import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type DiagnosticCounter, RepeatedLines, sampleOf, scanLines, filledString, type JsonRecord, objectOf, parseRecord } from "@foldcast/adapter-kit";
import { decode, dialectOf } from "./dialects.ts";
import type { NotedLine } from "./notes.ts";
import { type KeptTurnList, TurnList } from "./turn-list.ts";

/** A scan as JSON. */
export interface KeptScan {
  turns: KeptTurnList;
  cwd: string | null;
  sessionId: string | null;
  agentId: string | null;
  isChild: boolean;
  scanned: number;
  identity: string;
  seen: string[];
}

/**
 * Everything known of a session file up to some byte. Lines are fed in the order of the file, and again from there when
 * the file has grown.
 */
export class SessionScan {
  readonly turns: TurnList;
  /** Some line is of a kind that only Kimi writes. */
  isOurs = false;
  cwd: string | null = null;
  /** The session that the lines name, where they name one. */
  sessionId: string | null = null;
  agentId: string | null = null;
  /** The first turn is a task that a parent gave. */
  isChild = false;
  scanned = 0;
  /** Of the bytes of the beginning. */
  readonly #hash: Hash = createHash("sha256");
  /** Since the first turn: no growth changes it. */
  #identity: string | null = null;
  readonly #diagnostics: DiagnosticCounter;
  readonly #repeated: RepeatedLines;

  /** `kept`: what an earlier scan of the file gave. */
  constructor(diagnostics: DiagnosticCounter, kept: KeptScan | null = null) {
    this.#diagnostics = diagnostics;
    this.turns = kept === null ? new TurnList() : TurnList.restore(kept.turns);
    this.#repeated = new RepeatedLines(kept?.seen);
    if (kept === null) return;
    this.isOurs = true;
    ({ cwd: this.cwd, sessionId: this.sessionId, agentId: this.agentId, isChild: this.isChild, scanned: this.scanned, identity: this.#identity } = kept);
  }

  /** Names a session that no line and no folder names: from its lines up to the first prompt. */
  get identity(): string {
    return this.#identity ?? this.#hash.copy().digest("hex").slice(0, 32);
  }

  /** To go on from later; null before the first turn. */
  keep(): KeptScan | null {
    if (!this.isOurs || this.#identity === null) return null;
    const { cwd, sessionId, agentId, isChild, scanned } = this;
    return { turns: this.turns.keep(), cwd, sessionId, agentId, isChild, scanned, identity: this.#identity, seen: this.#repeated.digests };
  }

  async read(file: FileHandle): Promise<void> {
    const result = await scanLines(file, (bytes, start, end, offset, ended) => {
      if (this.#line(bytes, start, end, offset)) {
        if (!ended) this.scanned = offset + (end - start);
      } else this.#diagnostics.count(ended ? "line.malformed" : "line.unfinished", sampleOf(bytes, start, end));
    }, { from: this.scanned });
    // A last line that is whole counts as read without its newline; a cut one is looked at again when the file grows.
    this.scanned = Math.max(this.scanned, result.unendedFrom);
    if (result.oversized > 0) this.#diagnostics.count("line.tooLong", null, result.oversized);
  }

  /** Takes the beginning of a file; `whole` = it is all of it. A cut last line is passed over. */
  readBytes(bytes: Buffer, whole: boolean): void {
    let start = 0;
    while (start < bytes.length) {
      const newline = bytes.indexOf(0x0a, start);
      if (newline === -1 && !whole) return;
      const end = newline === -1 ? bytes.length : newline;
      if (end > start) this.#line(bytes, start, end, start);
      start = end + 1;
    }
  }

  /** False when the bytes are no line at all. */
  #line(bytes: Buffer, start: number, end: number, offset: number): boolean {
    const record = parseRecord(bytes.toString("utf8", start, end));
    if (record === null) return false;
    if (this.#identity === null) this.#hash.update(bytes.subarray(start, end));
    this.#describe(record);
    this.isOurs ||= dialectOf(record) !== null;
    const line = decode(record);
    if (line.at !== null && this.#repeated.isRepeated(bytes.subarray(start, end))) {
      this.#diagnostics.count("line.repeated", sampleOf(bytes, start, end));
      return true;
    }
    // Within a turn it is shown and counted there.
    for (const note of this.turns.isOpen ? [] : line.notes) if (note.type === "unknown") this.#diagnostics.count("record.unknownType", JSON.stringify(note.record));
    if (this.turns.turns.length === 0) this.isChild ||= isTask(line);
    this.turns.add(line, { offset, length: end - start });
    if (this.turns.turns.length > 0) this.#identity ??= this.identity;
    return true;
  }

  #describe(record: JsonRecord): void {
    if (this.cwd === null && (record["type"] === "profile.bind" || record["type"] === "config.update")) {
      this.cwd = filledString(objectOf(record["environmentDisclosure"])["cwd"]) ?? filledString(record["cwd"]);
    }
    this.agentId ??= filledString(record["agentId"]);
    if (this.sessionId !== null) return;
    const runtime = /^acp:(.+)$/.exec(filledString(record["runtimeId"]) ?? "")?.[1];
    this.sessionId = filledString(objectOf(record["request"])["sessionId"]) ?? runtime ?? null;
  }
}

/** A prompt that a person did not send, and that is no news either: the task of a sub-agent. */
function isTask({ notes }: NotedLine): boolean {
  return notes.some((note) => note.type === "prompt" && !note.byPerson && note.notice === null);
}
