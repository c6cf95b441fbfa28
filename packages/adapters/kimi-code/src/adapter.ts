import { realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AcpSession } from "@foldcast/adapter-kit/acp";
import { findProgram } from "@foldcast/adapter-kit";
import type { HarnessAdapter, HarnessEnvironment, HarnessInspection, HarnessSession, OpenRequest, SessionOptions } from "@foldcast/protocol-core/harness";
import { SideFiles } from "./history/side-files.ts";
import { history } from "./history/source.ts";
import { inspectProgram } from "./inspect.ts";
import { kimiDialect } from "./live/dialect.ts";
import { findSession, homeFolder, wireFileOf } from "./live/places.ts";
import { WireTeller } from "./live/teller.ts";
import { manifest } from "./manifest.ts";
import { type KimiSettings, readSettings } from "./settings.ts";

const INSTALL = "Kimi Code is not installed (`npm install -g @moonshot-ai/kimi-code`, or name the program in the setting `bin`).";
/** What is installed and logged in can change without a trace in the files that are looked at. */
const INSPECTION_TTL_MS = 10 * 60_000;
/** A start takes seconds of all processors; more at a time only slow each other down. */
const STARTS_AT_ONCE = 2;

export class KimiAdapter implements HarnessAdapter {
  readonly manifest = manifest;
  readonly history = history;
  readonly #environment: HarnessEnvironment;
  readonly #settings: KimiSettings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #home: string;
  /** By session id: two programs on one session would write over each other's turns. */
  readonly #sessions = new Map<string, AcpSession>();
  readonly #opening = new Set<string>();
  #starting = 0;
  readonly #queue: (() => void)[] = [];
  #inspection: { key: string; at: number; answer: Promise<HarnessInspection> } | null = null;
  #closed = false;

  constructor(environment: HarnessEnvironment, settings: Readonly<Record<string, unknown>>) {
    this.#environment = environment;
    this.#settings = readSettings(settings);
    this.#env = { ...process.env, ...this.#settings.env };
    this.#home = homeFolder(this.#env);
  }

  async inspect(): Promise<HarnessInspection> {
    const bin = await this.#findProgram();
    if (bin === null) return { ready: false, reason: INSTALL, version: null, models: [] };
    const key = JSON.stringify([bin, await modifiedAt(bin), await modifiedAt(join(this.#home, "config.toml"))]);
    const now = this.#environment.now();
    if (this.#inspection?.key !== key || now - this.#inspection.at > INSPECTION_TTL_MS) {
      this.#inspection = { key, at: now, answer: this.#limited(() => inspectProgram(bin, this.#env)) };
    }
    const answer = await this.#inspection.answer;
    // A login or a repair counts at once.
    if (!answer.ready) this.#inspection = null;
    return answer;
  }

  async open(request: OpenRequest): Promise<HarnessSession> {
    this.#demandOpen();
    const bin = await this.#findProgram();
    if (bin === null) throw new Error(INSTALL);
    switch (request.kind) {
      case "create":
        return this.#begin(bin, null, request.options);
      case "resume":
        return this.#begin(bin, request.nativeSessionId, await this.#inItsFolder(request.nativeSessionId, request.options));
      case "fork":
        throw new Error("Kimi Code cannot copy a part of a session over ACP; `kimi fork` copies a whole one.");
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #begin(bin: string, id: string | null, options: SessionOptions): Promise<HarnessSession> {
    if (id !== null && (this.#sessions.has(id) || this.#opening.has(id))) throw new Error(`The session ${id} is open already.`);
    if (id !== null) this.#opening.add(id);
    try {
      const session = await this.#limited(() => AcpSession.open({
        name: "Kimi Code",
        command: [bin, "acp", ...(this.#settings.args ?? [])],
        env: this.#env,
        environment: this.#environment,
        options,
        ...(id === null ? {} : { from: { kind: "resume", sessionId: id } }),
        dialect: kimiDialect,
        // Kimi's own tools read, write and run: what is done through a client leaves no output in its session.
        client: { forms: true },
        compactCommand: "/compact",
        fileOf: async (sessionId) => {
          const saved = await findSession(this.#home, sessionId);
          return saved === null ? null : wireFileOf(saved);
        },
        teller: async (port, { sessionId, file }) => {
          if (file === null) throw new Error(`Kimi Code's session ${sessionId} is not in ${this.#home}.`);
          return WireTeller.start(port, { sessionId, file, cwd: options.cwd }, new SideFiles(file));
        },
        onEnd: () => this.#sessions.delete(session.nativeSessionId),
      }));
      if (this.#closed) {
        await session.close();
        this.#demandOpen();
      }
      if (!session.isOver) this.#sessions.set(session.nativeSessionId, session);
      return session;
    } finally {
      if (id !== null) this.#opening.delete(id);
    }
  }

  /** Folders never mix: a session of another folder is refused, as the program itself does on its command line. */
  async #inItsFolder(id: string, options: SessionOptions): Promise<SessionOptions> {
    const saved = await findSession(this.#home, id);
    if (saved === null) throw new Error(`There is no Kimi Code session ${id}.`);
    if (saved.cwd !== null && (await real(saved.cwd)) !== (await real(options.cwd))) {
      throw new Error(`The Kimi Code session ${id} belongs to ${saved.cwd}; it cannot go on in ${options.cwd}.`);
    }
    return options;
  }

  async #limited<T>(start: () => Promise<T>): Promise<T> {
    if (this.#starting >= STARTS_AT_ONCE) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#starting += 1;
    try {
      return await start();
    } finally {
      this.#starting -= 1;
      this.#queue.shift()?.();
    }
  }

  #findProgram(): Promise<string | null> {
    return findProgram(this.#settings.bin ?? "kimi", this.#env);
  }

  #demandOpen(): void {
    if (this.#closed) throw new Error("Kimi Code is closed.");
  }
}

async function modifiedAt(path: string): Promise<number> {
  return stat(path).then((stats) => stats.mtimeMs, () => 0);
}

function real(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}
