import type {
  HarnessAdapter, HarnessCapabilities, HarnessEnvironment, HarnessEvent, HarnessSession, HistoryIndex, HistorySource, InteractionAnswer, OpenRequest,
  SessionOptions, TurnInput,
} from "@foldcast/protocol-core/harness";
import type { HarnessEntry } from "../harness/catalogue.ts";

export const CAPABILITIES: HarnessCapabilities = {
  steer: true, images: false, resume: true, fork: false, rollback: false, compact: false, interactions: true, selectModel: true, historyOutcome: "complete",
};

/** What a session does with a turn; the default answers `echo: <prompt>`. */
export type TurnScript = (session: FakeSession, input: TurnInput, turnKey: string) => void | Promise<void>;

export const textOf = (input: TurnInput): string => input.input.map((part) => (part.type === "text" ? part.text : "")).join("");

export const echo: TurnScript = (session, input, turnKey) => {
  session.begin(turnKey, input);
  session.message("m1", `echo: ${textOf(input)}`);
  session.end({ status: "succeeded" });
};

/** A session whose events the test makes by hand. What it emits is its saved file, too. */
export class FakeSession implements HarnessSession {
  readonly nativeSessionId: string;
  readonly file: string | null;
  readonly request: OpenRequest;
  readonly steered: TurnInput[] = [];
  readonly answers: { id: string; answer: InteractionAnswer }[] = [];
  readonly selected: Partial<Omit<SessionOptions, "cwd">>[] = [];
  cancels = 0;
  closed = false;
  readonly compact?: () => Promise<void>;
  readonly #adapter: FakeAdapter;
  #waiting: HarnessEvent[] = [];
  #wake: (() => void) | null = null;
  #over = false;
  #broken: Error | null = null;

  constructor(adapter: FakeAdapter, nativeSessionId: string, request: OpenRequest) {
    this.#adapter = adapter;
    this.nativeSessionId = nativeSessionId;
    this.request = request;
    this.file = adapter.keepsHistory ? `/fake/${nativeSessionId}` : null;
    if (adapter.manifest.capabilities.compact) this.compact = () => Promise.resolve(adapter.onCompact(this, `k${(adapter.turns += 1)}`));
  }

  get events(): AsyncIterable<HarnessEvent> {
    return this.#iterate();
  }

  emit(event: HarnessEvent): void {
    if (this.file !== null) this.#adapter.record(this.file, event);
    this.#waiting.push(event);
    this.#wake?.();
  }
  begin(turnKey: string, input: TurnInput): void {
    this.emit({ type: "turn.started", turnKey, at: this.now(), input: input.input, clientId: input.clientId });
  }
  message(id: string, text: string): void {
    this.emit({ type: "item.started", item: { kind: "message", id }, at: this.now() });
    this.emit({ type: "item.updated", itemId: id, update: { type: "text", append: text }, at: this.now() });
    this.emit({ type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at: this.now() });
  }
  end(outcome: Extract<HarnessEvent, { type: "turn.completed" }>["outcome"]): void {
    this.emit({ type: "turn.completed", outcome, at: this.now() });
  }
  /** Ends the stream of events: by throwing, or just so. */
  breakOff(error: Error | null = null): void {
    this.#broken = error;
    this.#over = true;
    this.#wake?.();
  }
  now(): number {
    return this.#adapter.environment.now();
  }

  async startTurn(input: TurnInput): Promise<void> {
    await this.#adapter.script(this, input, `k${(this.#adapter.turns += 1)}`);
  }
  steer(input: TurnInput): Promise<void> {
    this.steered.push(input);
    this.emit({
      type: "item.started", at: this.now(), item: { kind: "userMessage", id: `steer-${this.steered.length}`, content: input.input, clientId: input.clientId },
    });
    return Promise.resolve();
  }
  cancel(): Promise<void> {
    this.cancels += 1;
    this.#adapter.onCancel(this);
    return Promise.resolve();
  }
  answer(id: string, answer: InteractionAnswer): Promise<void> {
    this.answers.push({ id, answer });
    return Promise.resolve();
  }
  select(options: Partial<Omit<SessionOptions, "cwd">>): Promise<void> {
    this.selected.push(options);
    return Promise.resolve();
  }
  close(): Promise<void> {
    this.closed = true;
    this.breakOff();
    return Promise.resolve();
  }

  async *#iterate(): AsyncGenerator<HarnessEvent> {
    for (;;) {
      const events = this.#waiting;
      this.#waiting = [];
      yield* events;
      if (this.#waiting.length > 0) continue;
      if (this.#over) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#broken !== null) throw this.#broken;
  }
}

/** A harness for tests of the host, with sessions in memory. */
export class FakeAdapter implements HarnessAdapter {
  readonly manifest: HarnessAdapter["manifest"];
  readonly sessions: FakeSession[] = [];
  readonly environment: HarnessEnvironment;
  keepsHistory = true;
  script: TurnScript = echo;
  onCancel: (session: FakeSession) => void = (session) => session.end({ status: "cancelled" });
  onCompact: (session: FakeSession, turnKey: string) => void = (session, key) => {
    session.begin(key, { input: [], clientId: null });
    session.emit({ type: "item.started", item: { kind: "compaction", id: "c" }, at: session.now() });
    session.emit({ type: "item.completed", itemId: "c", outcome: { status: "succeeded" }, at: session.now() });
    session.end({ status: "succeeded" });
  };
  beforeOpen: () => Promise<void> = () => Promise.resolve();
  turns = 0;
  readonly #files = new Map<string, HarnessEvent[][]>();

  constructor(environment: HarnessEnvironment, id = "fake", capabilities: Partial<HarnessCapabilities> = {}) {
    this.environment = environment;
    this.manifest = { id, displayName: "Fake", capabilities: { ...CAPABILITIES, ...capabilities }, tools: {} };
  }

  inspect(): ReturnType<HarnessAdapter["inspect"]> {
    const model = (id: string) => ({ id, displayName: id, description: `Model ${id}`, efforts: ["low", "medium"], defaultEffort: "medium", images: false });
    return Promise.resolve({ ready: true, reason: null, version: "1", models: [model("one"), model("two")] });
  }
  async open(request: OpenRequest): Promise<HarnessSession> {
    await this.beforeOpen();
    const id = request.kind === "resume" ? request.nativeSessionId : `native-${this.manifest.id}-${this.sessions.length + 1}`;
    if (request.kind === "fork") {
      const turns = this.#files.get(`/fake/${request.nativeSessionId}`) ?? [];
      const last = turns.findIndex(([first]) => first?.type === "turn.started" && first.turnKey === request.throughTurnKey);
      this.#files.set(`/fake/${id}`, turns.slice(0, request.throughTurnKey === undefined ? undefined : last + 1));
    }
    const session = new FakeSession(this, id, request);
    this.sessions.push(session);
    return session;
  }
  async close(): Promise<void> {
    await Promise.all(this.sessions.map((session) => session.close()));
  }

  record(file: string, event: HarnessEvent): void {
    const turns = this.#files.get(file) ?? [];
    this.#files.set(file, turns);
    if (event.type === "turn.started") turns.push([]);
    turns.at(-1)?.push(event);
  }
  /** As if another program had written it. */
  save(file: string, turns: HarnessEvent[][]): void {
    this.#files.set(file, turns);
  }

  readonly history: HistorySource = {
    recognises: (_file, head) => head.startsWith(`fake-session ${this.manifest.id} `),
    open: (file): Promise<HistoryIndex> => {
      const turns = this.#files.get(file);
      if (turns === undefined) return Promise.reject(new Error(`no such session: ${file}`));
      const read: HistoryIndex["read"] = async function* (from, to) {
        await Promise.resolve();
        yield* turns.slice(from, to).map((events, at) => ({ index: from + at, events: [...events] }));
      };
      return Promise.resolve({
        nativeSessionId: file.slice(file.lastIndexOf("/") + 1),
        file,
        cwd: "/fake-cwd",
        title: null,
        parentNativeSessionId: null,
        get turns() {
          return turns.map((events) => {
            const first = events[0]?.type === "turn.started" ? events[0] : null;
            const last = events.at(-1);
            return {
              key: first?.turnKey ?? "",
              prompt: first === null ? "" : textOf({ input: first.input, clientId: null }),
              outcome: last?.type === "turn.completed" ? last.outcome : { status: "unknown" as const },
              startedAt: first?.at ?? null,
              completedAt: last?.at ?? null,
            };
          });
        },
        diagnostics: [],
        read,
        refresh: () => Promise.resolve(true),
        close: () => Promise.resolve(),
      });
    },
  };
}

/** Registry entry for a fake; `onCreate` gives the test its adapter. */
export function fakeEntry(onCreate: (adapter: FakeAdapter) => void, id = "fake", capabilities: Partial<HarnessCapabilities> = {}): HarnessEntry {
  const manifest = { id, displayName: "Fake", capabilities: { ...CAPABILITIES, ...capabilities }, tools: {} };
  return {
    id,
    load: () => Promise.resolve({
      manifest,
      create: (environment: HarnessEnvironment) => {
        const adapter = new FakeAdapter(environment, id, capabilities);
        onCreate(adapter);
        return adapter;
      },
    }),
  };
}
