import { stat } from "node:fs/promises";
import type { HarnessAdapter, HarnessEnvironment, HarnessInspection, HarnessSession, OpenRequest, SessionOptions } from "@foldcast/protocol-core/harness";
import { history } from "./history/source.ts";
import { copySession } from "./fork.ts";
import { inspectProgram } from "./inspect.ts";
import { ClaudeSession } from "./live/session.ts";
import { manifest } from "./manifest.ts";
import { findProgram, findSession, isFile, projectsFolder } from "./program/places.ts";
import { type ClaudeSettings, readSettings } from "./settings.ts";

const INSTALL = "Claude Code is not installed (`npm install -g @anthropic-ai/claude-code`, or name the program in the setting `bin`).";
/** What the program answers changes with its version and its login; both are looked at each time. */
const INSPECTION_TTL_MS = 10 * 60_000;

export class ClaudeAdapter implements HarnessAdapter {
  readonly manifest = manifest;
  readonly history = history;
  readonly #environment: HarnessEnvironment;
  readonly #settings: ClaudeSettings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #projects: string;
  /** By session id: two programs on one session would write over each other's turns. */
  readonly #sessions = new Map<string, ClaudeSession>();
  readonly #opening = new Set<string>();
  #inspection: { key: string; at: number; answer: Promise<HarnessInspection> } | null = null;
  #closed = false;

  constructor(environment: HarnessEnvironment, settings: Readonly<Record<string, unknown>>) {
    this.#environment = environment;
    this.#settings = readSettings(settings);
    this.#env = childEnvironment(this.#settings);
    this.#projects = projectsFolder(this.#env);
  }

  async inspect(): Promise<HarnessInspection> {
    const bin = await this.#findProgram();
    if (bin === null) return { ready: false, reason: INSTALL, version: null, models: [] };
    const now = this.#environment.now();
    const key = await inspectionKey(bin, this.#projects);
    if (this.#inspection?.key !== key || now - this.#inspection.at > INSPECTION_TTL_MS) {
      this.#inspection = { key, at: now, answer: inspectProgram({ bin, env: this.#env, log: (...entry) => this.#environment.log(...entry) }) };
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
        return this.#begin(bin, this.#environment.newId(), null, request.options);
      case "resume":
        return this.#begin(bin, request.nativeSessionId, await this.#sessionFile(request.nativeSessionId), request.options);
      case "fork": {
        const source = await this.#sessionFile(request.nativeSessionId);
        const id = this.#environment.newId();
        const copy = await copySession({ source, fromId: request.nativeSessionId, toId: id, throughTurnKey: request.throughTurnKey ?? null });
        try {
          return await this.#begin(bin, id, copy.file, request.options);
        } catch (error) {
          await copy.remove();
          throw error;
        }
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #begin(bin: string, id: string, file: string | null, options: SessionOptions): Promise<HarnessSession> {
    if (this.#sessions.has(id) || this.#opening.has(id)) throw new Error(`The session ${id} is open already.`);
    this.#opening.add(id);
    try {
      const session = await ClaudeSession.open({
        nativeSessionId: id, file, options, bin,
        environment: this.#environment,
        args: this.#settings.args ?? [],
        env: this.#env,
        projects: this.#projects,
        onEnd: () => this.#sessions.delete(id),
      });
      if (this.#closed) {
        await session.close();
        this.#demandOpen();
      }
      if (!session.isOver) this.#sessions.set(id, session);
      return session;
    } finally {
      this.#opening.delete(id);
    }
  }

  async #sessionFile(id: string): Promise<string> {
    const file = await findSession(this.#projects, id);
    if (file === null) throw new Error(`There is no Claude Code session ${id}.`);
    return file;
  }

  #findProgram(): Promise<string | null> {
    return findProgram(this.#settings.bin ?? "claude", this.#env);
  }

  #demandOpen(): void {
    if (this.#closed) throw new Error("Claude Code is closed.");
  }
}

/** Of this process, but for what says that it runs inside of a Claude Code itself. */
function childEnvironment(settings: ClaudeSettings): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, ...settings.env };
  delete env["CLAUDECODE"];
  delete env["CLAUDE_CODE_ENTRYPOINT"];
  return env;
}

/** Changes when another program or another login is there. */
async function inspectionKey(bin: string, projects: string): Promise<string> {
  const credentials = projects.replace(/projects$/, ".credentials.json");
  const times = await Promise.all([bin, credentials].map(async (path) => ((await isFile(path)) ? (await stat(path)).mtimeMs : 0)));
  return JSON.stringify([bin, ...times]);
}
