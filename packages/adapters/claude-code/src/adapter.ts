import { dirname, join } from "node:path";
import { findProgram, InspectionCache, OpenSessions } from "@foldcast/adapter-kit";
import type { HarnessAdapter, HarnessEnvironment, HarnessInspection, HarnessSession, OpenRequest, SessionOptions } from "@foldcast/protocol-core/harness";
import { history } from "./history/source.ts";
import { copySession } from "./fork.ts";
import { inspectProgram } from "./inspect.ts";
import { ClaudeSession } from "./live/session.ts";
import { manifest } from "./manifest.ts";
import { findSession, projectsFolder } from "./program/places.ts";
import { type ClaudeSettings, readSettings } from "./settings.ts";

const INSTALL = "Claude Code is not installed (`npm install -g @anthropic-ai/claude-code`, or name the program in the setting `bin`).";

export class ClaudeAdapter implements HarnessAdapter {
  readonly manifest = manifest;
  readonly history = history;
  readonly #environment: HarnessEnvironment;
  readonly #settings: ClaudeSettings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #projects: string;
  readonly #sessions = new OpenSessions<ClaudeSession>("Claude Code");
  readonly #inspections: InspectionCache;

  constructor(environment: HarnessEnvironment, settings: Readonly<Record<string, unknown>>) {
    this.#environment = environment;
    this.#settings = readSettings(settings);
    this.#env = childEnvironment(this.#settings);
    this.#projects = projectsFolder(this.#env);
    this.#inspections = new InspectionCache(() => environment.now());
  }

  async inspect(): Promise<HarnessInspection> {
    const bin = await this.#findProgram();
    if (bin === null) return { ready: false, reason: INSTALL, version: null, models: [] };
    const credentials = join(dirname(this.#projects), ".credentials.json");
    return this.#inspections.get([bin, credentials], () => inspectProgram({ bin, env: this.#env, log: (...entry) => this.#environment.log(...entry) }));
  }

  async open(request: OpenRequest): Promise<HarnessSession> {
    this.#sessions.demandOpen();
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

  close(): Promise<void> {
    return this.#sessions.close();
  }

  #begin(bin: string, id: string, file: string | null, options: SessionOptions): Promise<HarnessSession> {
    return this.#sessions.open(id, (onEnd) => ClaudeSession.open({
      nativeSessionId: id, file, options, bin,
      environment: this.#environment,
      args: this.#settings.args ?? [],
      env: this.#env,
      projects: this.#projects,
      onEnd,
    }));
  }

  async #sessionFile(id: string): Promise<string> {
    const file = await findSession(this.#projects, id);
    if (file === null) throw new Error(`There is no Claude Code session ${id}.`);
    return file;
  }

  #findProgram(): Promise<string | null> {
    return findProgram(this.#settings.bin ?? "claude", this.#env);
  }
}

/** Of this process, but for what says that it runs inside of a Claude Code itself. */
function childEnvironment(settings: ClaudeSettings): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, ...settings.env };
  delete env["CLAUDECODE"];
  delete env["CLAUDE_CODE_ENTRYPOINT"];
  return env;
}
