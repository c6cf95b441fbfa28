import type { ToolMap } from "../tools/index.ts";
import type { UserInput } from "../wire/index.ts";
import type { HarnessEvent } from "./events.ts";
import type { HistorySource } from "./history.ts";
import type { InteractionAnswer } from "./interactions.ts";

/** What a harness can do. The host answers "not supported yet" for the rest; nothing is emulated silently. */
export interface HarnessCapabilities {
  steer: boolean;
  images: boolean;
  resume: boolean;
  fork: boolean;
  rollback: boolean;
  compact: boolean;
  interactions: boolean;
  /** False where a refusal of an approval has no place for words; the host then sends them as input. */
  denyText?: boolean;
  selectModel: boolean;
  /** How far saved files prove a turn's outcome. */
  historyOutcome: "alwaysUnknown" | "evidence" | "complete";
}

export interface HarnessManifest {
  /** Registered id, the part of a model id before the slash. */
  id: string;
  displayName: string;
  capabilities: HarnessCapabilities;
  /** Raw tool name → what the tool is. Pure data. */
  tools: ToolMap;
}

export interface HarnessModel {
  /** Without the harness's id in front. */
  id: string;
  displayName: string;
  description: string;
  efforts: readonly string[];
  defaultEffort: string;
  images: boolean;
}

/** `reason` says what to do next when the harness is not ready. */
export interface HarnessInspection {
  ready: boolean;
  reason: string | null;
  version: string | null;
  models: readonly HarnessModel[];
  /** The harness's own, as `SessionOptions.permissionMode` takes them beside Codex's profiles. Absent = not known. */
  permissionModes?: readonly string[];
}

/** What the edge hands to an adapter: the core has no clock and no id generator of its own. */
export interface HarnessEnvironment {
  /** Unix milliseconds. */
  now(): number;
  newId(): string;
  /** Waits; rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignalLike): Promise<void>;
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Where an adapter may keep files of its own, made on first use. */
  dataDir: string;
  /** Tool-name maps of the other registered harnesses, by id (a recording may use a foreign map). */
  toolMaps: Readonly<Record<string, ToolMap>>;
}

/** The part of the platform's AbortSignal that the contract needs (the core has no DOM types). */
export interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface SessionOptions {
  cwd: string;
  model: string | null;
  thinking: string | null;
  permissionMode: string | null;
}
export type OpenRequest =
  | { kind: "create"; options: SessionOptions }
  | { kind: "resume"; nativeSessionId: string; options: SessionOptions }
  /** `throughTurnKey`: the last turn that the copy keeps; absent = all. */
  | { kind: "fork"; nativeSessionId: string; throughTurnKey?: string; options: SessionOptions };

export interface TurnInput {
  input: UserInput[];
  clientId: string | null;
}

/**
 * One running conversation. All methods may reject with an Error whose message a person can read; a rejection
 * concerns that call only. After a `fault` or `close` every method rejects.
 */
export interface HarnessSession {
  readonly nativeSessionId: string;
  /** The harness's own saved file, for history; null where it keeps none. */
  readonly file: string | null;
  /**
   * Single consumer, in order, ends after `close` or a `fault`. It never throws: failures are `fault` events. (The
   * host survives one that does throw: its turn fails.)
   */
  readonly events: AsyncIterable<HarnessEvent>;
  /** Resolves when the harness took the input; its events may come before that. Rejects while a turn runs. */
  startTurn(input: TurnInput): Promise<void>;
  /** Adds input to the running turn. Rejects where `capabilities.steer` is false or no turn runs. */
  steer(input: TurnInput): Promise<void>;
  /** Asks for the running turn's end; its `turn.completed` (cancelled) comes on `events`. No turn: does nothing. */
  cancel(): Promise<void>;
  answer(interactionId: string, answer: InteractionAnswer): Promise<void>;
  /**
   * Starts a turn that shortens the context, without an input of anybody; a `compaction` item shows it. Settles as
   * `startTurn` does. There exactly where `capabilities.compact` is true.
   */
  compact?(): Promise<void>;
  /** Applies to later turns. Undefined members stay as they are. */
  select(options: Partial<Omit<SessionOptions, "cwd">>): Promise<void>;
  /** Idempotent; ends a running turn as cancelled and reaps every child process. Never rejects. */
  close(): Promise<void>;
}

export interface HarnessAdapter {
  readonly manifest: HarnessManifest;
  /** Never starts a model turn or a session. Never rejects: what is wrong stands in the answer. */
  inspect(): Promise<HarnessInspection>;
  /** Rejects with a readable message; nothing is left running then. */
  open(request: OpenRequest): Promise<HarnessSession>;
  /** Reads saved sessions; null where the harness keeps none that can be read. */
  readonly history: HistorySource | null;
  /** Idempotent; closes every session. Never rejects. */
  close(): Promise<void>;
}

/** How the registry makes an adapter. Must not do I/O or load heavy code before it is called. */
export interface HarnessDefinition {
  manifest: HarnessManifest;
  /** The settings that it takes, each with what it does in a line: a person's configuration is checked against them. */
  settings?: Readonly<Record<string, string>>;
  create(environment: HarnessEnvironment, settings: Readonly<Record<string, unknown>>): HarnessAdapter | Promise<HarnessAdapter>;
}
