import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { FakeAgent } from "@foldcast/adapter-kit/acp/fake-agent";

type Line = Record<string, unknown>;

/** A session of the fake program: its folder, and what of it is written down a little late, as the real one does. */
export class FakeSession {
  readonly id: string;
  readonly folder: string;
  readonly cwd: string;
  readonly agent: FakeAgent;
  mode = "default";
  nextTurn = 0;
  running: FakeTurn | null = null;
  readonly #lagMs: number;
  #waiting: string[] = [];

  private constructor(agent: FakeAgent, id: string, folder: string, cwd: string) {
    this.agent = agent;
    this.id = id;
    this.folder = folder;
    this.cwd = cwd;
    this.#lagMs = Number(process.env["FAKE_KIMI_LAG_MS"] ?? 10);
    mkdirSync(join(folder, "agents", "main"), { recursive: true });
  }

  static create(agent: FakeAgent, home: string, cwd: string): FakeSession {
    const id = `session_${randomUUID()}`;
    const folder = join(home, "sessions", `wd_${basename(cwd)}_000000000000`, id);
    const session = new FakeSession(agent, id, folder, cwd);
    writeFileSync(join(folder, "state.json"), JSON.stringify({ id, version: 2, cwd, agents: { main: { type: "main" } } }));
    session.record({ type: "metadata", protocol_version: "1.5", created_at: Date.now() });
    session.flush();
    return session;
  }

  static resume(agent: FakeAgent, home: string, id: string): FakeSession | null {
    for (const workspace of readdirSync(join(home, "sessions"))) {
      const folder = join(home, "sessions", workspace, id);
      if (!existsSync(folder)) continue;
      const { cwd } = JSON.parse(readFileSync(join(folder, "state.json"), "utf8")) as { cwd: string };
      const session = new FakeSession(agent, id, folder, cwd);
      session.nextTurn = readFileSync(session.#wire, "utf8").split("\n").filter((line) => line.startsWith("{\"type\":\"turn.prompt\"")).length;
      return session;
    }
    return null;
  }

  record(line: Line, agentId = "main"): void {
    if (agentId !== "main") mkdirSync(join(this.folder, "agents", agentId), { recursive: true });
    const text = `${JSON.stringify({ ...line, agentId, time: Date.now() })}\n`;
    if (agentId !== "main") return appendFileSync(join(this.folder, "agents", agentId, "wire.jsonl"), text);
    if (this.#waiting.length === 0) setTimeout(() => this.flush(), this.#lagMs).unref();
    this.#waiting.push(text);
  }

  flush(): void {
    appendFileSync(this.#wire, this.#waiting.splice(0).join(""));
  }

  get #wire(): string {
    return join(this.folder, "agents", "main", "wire.jsonl");
  }
}

/** A turn that streams, unless the agent begins it by itself, and is written down. */
export class FakeTurn {
  readonly id: number;
  readonly session: FakeSession;
  readonly cancelled: Promise<void>;
  cancel!: () => void;
  readonly #streams: boolean;
  #steps = 0;
  #step = "";

  constructor(session: FakeSession, input: readonly object[], origin: Line = { kind: "user" }) {
    this.id = session.nextTurn++;
    this.session = session;
    this.#streams = origin["kind"] === "user";
    this.cancelled = new Promise((resolve) => (this.cancel = resolve));
    session.running = this;
    session.record({ type: "turn.prompt", input, origin, promptId: `msg_${session.id}_${this.id}`, turnId: this.id });
    session.record({ type: "context.append_message", message: { role: "user", content: input, toolCalls: [], origin } });
  }

  begin(): void {
    this.#steps += 1;
    this.#step = `step-${this.id}-${this.#steps}`;
    this.#loop({ type: "step.begin", uuid: this.#step, turnId: String(this.id), step: this.#steps });
  }

  say(text: string, recorded = text): void {
    this.#stream(text, "agent_message_chunk");
    if (recorded !== "") this.#loop({ type: "content.part", uuid: randomUUID(), stepUuid: this.#step, part: { type: "text", text: recorded } });
  }

  think(think: string): void {
    this.#stream(think, "agent_thought_chunk");
    this.#loop({ type: "content.part", uuid: randomUUID(), stepUuid: this.#step, part: { type: "think", think } });
  }

  /** Streams a call's name and its arguments; it is written down when it begins to run. */
  announce(id: string, name: string, args: object): void {
    const whole = JSON.stringify(args);
    const content = (text: string): object[] => [{ type: "content", content: { type: "text", text } }];
    this.update({ sessionUpdate: "tool_call", toolCallId: `${this.id}:${id}`, title: name, kind: "other", status: "pending", content: content("") });
    for (const text of [whole.slice(0, whole.length / 2), whole]) this.update({ sessionUpdate: "tool_call_update", toolCallId: `${this.id}:${id}`, status: "in_progress", content: content(text) });
  }

  run(id: string, name: string, args: object): void {
    this.update({ sessionUpdate: "tool_call_update", toolCallId: `${this.id}:${id}`, title: `Running ${name}`, status: "in_progress", rawInput: args });
    this.#loop({ type: "tool.call", uuid: `call-${id}`, stepUuid: this.#step, toolCallId: id, name, args });
  }

  result(id: string, output: string, isError = false): void {
    this.update({ sessionUpdate: "tool_call_update", toolCallId: `${this.id}:${id}`, status: isError ? "failed" : "completed", content: [{ type: "content", content: { type: "text", text: output } }], rawOutput: output });
    this.#loop({ type: "tool.result", parentUuid: `call-${id}`, toolCallId: id, result: { output, ...(isError ? { isError } : {}) } });
  }

  finish(finishReason: string): void {
    this.#loop({ type: "step.end", uuid: this.#step, turnId: String(this.id), step: this.#steps, finishReason, usage: { inputOther: 7, output: 2, inputCacheRead: 0, inputCacheCreation: 0 } });
  }

  end(reason: string, more: Line = {}): void {
    this.session.record({ type: "turn.ended", turnId: this.id, reason, durationMs: 5, ...more });
    this.session.running = null;
  }

  update(update: object): void {
    if (this.#streams) this.session.agent.update(this.session.id, update);
  }

  #stream(text: string, sessionUpdate: string): void {
    for (const piece of text.match(/.{1,5}/gs) ?? []) this.update({ sessionUpdate, content: { type: "text", text: piece } });
  }

  #loop(event: Line): void {
    this.session.record({ type: "context.append_loop_event", event });
  }
}
