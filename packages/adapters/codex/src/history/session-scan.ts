import type { FileHandle } from "node:fs/promises";
import { type DiagnosticCounter, RepeatedLines, sampleOf, scanLines, filledString, finiteNumber, firstWords, objectOf, parseRecord, stringOf } from "@foldcast/adapter-kit";
import { abortion, completion } from "./events.ts";
import { endsTurn, errorOf } from "./failure.ts";
import { type LineRole, roleOfEvent, roleOfItem, turnIdOf } from "./line-effect.ts";
import { isOwnLine, readLine, type RolloutLine } from "./line.ts";
import { type SessionRecord, secondsTime, textsOf } from "./record.ts";
import { readMeta, type SessionMeta, timeOfId } from "./session-meta.ts";
import { TurnList, type LinePlace } from "./turn-list.ts";
import { usageOfEvent, usageOfRecord } from "./usage.ts";
import { contentOfEvent, contentOfItem, contentOfUserMessage, directoryIn, type UserContent } from "./user-input.ts";

const TITLE_CHARACTERS = 500;
/** A copied history is written in one go; a sub-agent's own turn starts later than that. */
const COPY_BURST_MS = 100;

/**
 * Everything known of a rollout up to some byte. Lines are fed in the order of the file, and again from there when the
 * file has grown.
 */
export class SessionScan {
  readonly list = new TurnList();
  /** Lines that only Codex writes, shown or not. */
  lines = 0;
  scanned = 0;
  /** Time of the last line that tells it. */
  lastAt: number | null = null;
  /** Who the file belongs to: copies of other sessions' first lines come after its own. */
  meta: SessionMeta | null = null;
  title: string | null = null;
  /** Turns that were taken back beyond those of this file: they are those of the session that it was forked from. */
  takenBack = 0;
  #directory: string | null = null;
  /** In a sub-agent's file: lines are those of the session that started it. */
  #foreign = false;
  #foreignSince: number | null = null;
  #ordinal: number | null = null;
  readonly #repeated = new RepeatedLines();
  readonly #diagnostics: DiagnosticCounter;
  /** Only lines before this ordinal are read: a fork knows no more of its parent. */
  readonly #before: number | null;

  constructor(diagnostics: DiagnosticCounter, before: number | null = null) {
    this.#diagnostics = diagnostics;
    this.#before = before;
  }

  get cwd(): string | null {
    return this.meta?.cwd ?? this.#directory;
  }

  /** From where the last call ended, or from a place given. */
  async read(file: FileHandle, { from = this.scanned, to }: { from?: number; to?: number } = {}): Promise<void> {
    const result = await scanLines(file, (bytes, start, end, offset, ended) => {
      if (this.#line(bytes, start, end, offset)) {
        if (!ended) this.scanned = offset + (end - start);
      } else if (ended) this.#repair(bytes, start, end, offset);
      else this.#diagnostics.count("line.unfinished", sampleOf(bytes, start, end));
    }, { from, ...(to === undefined ? {} : { to }) });
    // A last line that is whole counts as read without its newline; a cut one is looked at again when the file grows.
    this.scanned = Math.max(this.scanned, result.unendedFrom);
    if (result.oversized > 0) this.#diagnostics.count("line.tooLong", null, result.oversized);
    this.list.settle();
  }

  /** A process that was killed leaves half a line, and the next one writes on behind it: what follows is still good. */
  #repair(bytes: Buffer, start: number, end: number, offset: number): void {
    this.#diagnostics.count("line.malformed", sampleOf(bytes, start, end));
    let at = start;
    for (let tries = 0; tries < 64; tries++) {
      // Not in the lines behind it, of which there may be a megabyte.
      const next = bytes.subarray(at + 1, end).indexOf("{\"timestamp\":");
      if (next === -1) return;
      at += 1 + next;
      if (this.#line(bytes, at, end, offset + (at - start))) return;
    }
  }

  /** False when the bytes are no line at all. */
  #line(bytes: Buffer, start: number, end: number, offset: number): boolean {
    const record = parseRecord(bytes.toString("utf8", start, end));
    const line = record === null ? null : readLine(record);
    if (line === null) {
      if (record !== null) this.#diagnostics.count("line.unknownType", sampleOf(bytes, start, end));
      return record !== null;
    }
    if (isOwnLine(line)) this.lines++;
    this.lastAt = line.at ?? this.lastAt;
    this.#checkOrdinal(line);
    if (this.#before !== null && (this.#ordinal ?? 0) >= this.#before) return true;
    if (line.kind !== "silent" && line.kind !== "usage" && line.at !== null && this.#repeated.isRepeated(bytes.subarray(start, end))) {
      this.#diagnostics.count("line.repeated", sampleOf(bytes, start, end));
      return true;
    }
    this.#sort(line, { offset, length: end - start, at: line.at });
    return true;
  }

  /** Ordinals with gaps or twice do not matter: what a line says is known by its own ids. */
  #checkOrdinal({ ordinal }: RolloutLine): void {
    if (ordinal === null) return;
    if (this.#ordinal !== null && ordinal !== this.#ordinal + 1) this.#diagnostics.count("ordinal.unexpected", `${ordinal} after ${this.#ordinal}`);
    this.#ordinal = ordinal;
  }

  #sort(line: RolloutLine, place: LinePlace): void {
    const { kind, payload } = line;
    if (kind === "meta") return this.#describe(payload, line.at);
    if (kind === "event" && (payload["type"] === "task_started" || payload["type"] === "turn_started")) return this.#start(line);
    if (kind === "context") return this.#context(payload, line.at);
    if (this.#isForeign(line)) return this.#diagnostics.count("line.ofParent");
    switch (kind) {
      case "item":
        return this.#content(roleOfItem(payload), line, place);
      case "event":
        return this.#event(payload, line, place);
      case "compacted":
        return this.list.compaction(place, null);
      case "usage": {
        const usage = usageOfRecord(payload);
        // The event that follows knows more.
        if (usage !== null && this.list.current?.usage == null) this.list.usage(usage);
        return;
      }
      case "unknown":
        return this.#content("unknown", line, place);
      case "silent":
        return;
    }
  }

  #describe(payload: SessionRecord, at: number | null): void {
    const meta = readMeta(payload);
    if (this.meta === null) {
      this.meta = { ...meta, startedAt: meta.startedAt ?? at };
      this.title = meta.nickname;
    } else if (this.meta.isChild && meta.id !== this.meta.id) {
      this.#foreign = true;
      this.#foreignSince = at;
    }
    this.list.restart();
  }

  #start({ payload, at, ordinal }: RolloutLine): void {
    const turnId = filledString(payload["turn_id"]);
    const startedAt = secondsTime(payload["started_at"]) ?? at;
    if (this.meta?.isChild === true) {
      this.#foreign = this.#isBeforeOwn(ordinal) || !this.#isOwnTurn(turnId, at);
      if (this.#foreign) return this.list.restart();
    }
    this.list.start(turnId ?? `@${at ?? this.scanned}:${this.list.turns.length}`, startedAt);
  }

  #isBeforeOwn(ordinal: number | null): boolean {
    const from = this.meta?.ownFrom ?? null;
    return from !== null && ordinal !== null && ordinal < from;
  }

  /** In a sub-agent's file: whether a turn came after the sub-agent itself. Both ids tell their time. */
  #isOwnTurn(turnId: string | null, at: number | null): boolean {
    const turn = timeOfId(turnId);
    const own = timeOfId(this.meta?.id ?? null) ?? this.meta?.startedAt ?? null;
    if (turn !== null && own !== null) return turn >= own;
    return !this.#foreign || at === null || this.#foreignSince === null || at > this.#foreignSince + COPY_BURST_MS;
  }

  #isForeign({ payload, ordinal }: RolloutLine): boolean {
    if (this.meta?.isChild !== true) return false;
    if (this.#isBeforeOwn(ordinal)) return true;
    const thread = filledString(payload["thread_id"]);
    return this.#foreign || (payload["type"] === "item_completed" && thread !== null && this.meta.id !== null && thread !== this.meta.id);
  }

  #context(payload: SessionRecord, at: number | null): void {
    const turnId = filledString(payload["turn_id"]);
    if (this.#foreign && turnId !== null && this.#isOwnTurn(turnId, at)) this.#foreign = false;
    if (this.#foreign) return;
    this.list.context(turnId, filledString(payload["cwd"]), filledString(payload["model"]));
  }

  #event(payload: SessionRecord, line: RolloutLine, place: LinePlace): void {
    switch (payload["type"]) {
      case "task_complete":
      case "turn_complete":
        return this.list.end(filledString(payload["turn_id"]), completion(payload));
      case "turn_aborted":
        return this.list.end(filledString(payload["turn_id"]), abortion(payload));
      case "token_count": {
        const usage = usageOfEvent(payload);
        if (usage !== null) this.list.usage(usage);
        return;
      }
      case "error": {
        const error = errorOf(payload);
        if (error !== null && endsTurn(payload)) this.list.fail(error);
        return;
      }
      case "thread_rolled_back":
        this.takenBack += this.list.rollBack(Math.max(0, finiteNumber(payload["num_turns"]) ?? 0));
        return;
      case "thread_name_updated":
        this.title = filledString(firstWords(stringOf(payload["thread_name"]) ?? "", TITLE_CHARACTERS)) ?? this.title;
        return;
      default:
        return this.#content(roleOfEvent(payload), line, place);
    }
  }

  #content(role: LineRole, line: RolloutLine, place: LinePlace): void {
    const { payload } = line;
    const key = turnIdOf(payload);
    if (role === "silent") return;
    if (this.list.copying) this.#diagnostics.count("line.copy");
    if (role === "user") {
      const content = userContent(payload);
      if (content.input.length > 0) this.list.user(place, promptText(content), key);
      return;
    }
    if (role === "asked") {
      for (const text of this.#directory === null ? textsOf(payload["content"]) : []) this.#directory ??= directoryIn(text);
      return this.list.asked(place, promptText(contentOfItem(payload)), key);
    }
    if (role === "compaction") return this.list.compaction(place, key);
    if (role === "early") return this.list.early(place);
    if (role === "unknown") {
      const type = line.kind === "unknown" ? line.type : `${line.type}.${stringOf(payload["type"]) ?? ""}`;
      this.#diagnostics.count("line.unknownType", type);
      // Between turns it would be taken for a turn of its own.
      if (this.list.current !== null) this.list.content(place, "note", key, true);
      return;
    }
    this.list.content(place, role.effect, key, line.kind === "item");
  }
}

/** What the person sent, of a `user_message` event or a completed `UserMessage`. */
function userContent(payload: SessionRecord): UserContent {
  return payload["type"] === "item_completed" ? contentOfUserMessage(objectOf(payload["item"])) : contentOfEvent(payload);
}

function promptText({ text, input }: UserContent): string {
  return text === "" && input.length > 0 ? "[image]" : text;
}
