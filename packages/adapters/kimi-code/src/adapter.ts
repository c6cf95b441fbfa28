import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AcpSession } from "@foldcast/adapter-kit/acp";
import { findProgram, InspectionCache, OpenSessions } from "@foldcast/adapter-kit";
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

export class KimiAdapter implements HarnessAdapter {
  readonly manifest = manifest;
  readonly history = history;
  readonly #environment: HarnessEnvironment;
  readonly #settings: KimiSettings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #home: string;
  readonly #sessions = new OpenSessions<AcpSession>("Kimi Code");
  readonly #inspections: InspectionCache;

  constructor(environment: HarnessEnvironment, settings: Readonly<Record<string, unknown>>) {
    this.#environment = environment;
    this.#settings = readSettings(settings);
    this.#env = { ...process.env, ...this.#settings.env };
    this.#home = homeFolder(this.#env);
    this.#inspections = new InspectionCache(() => environment.now());
  }

  async inspect(): Promise<HarnessInspection> {
    const bin = await this.#findProgram();
    if (bin === null) return { ready: false, reason: INSTALL, version: null, models: [] };
    const config = join(this.#home, "config.toml");
    return this.#inspections.get([bin, config], () => inspectProgram(bin, this.#env, config));
  }

  async open(request: OpenRequest): Promise<HarnessSession> {
    this.#sessions.demandOpen();
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

  close(): Promise<void> {
    return this.#sessions.close();
  }

  #begin(bin: string, id: string | null, options: SessionOptions): Promise<HarnessSession> {
    return this.#sessions.open(id, (onEnd) => AcpSession.open({
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
      onEnd,
    }));
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

  #findProgram(): Promise<string | null> {
    return findProgram(this.#settings.bin ?? "kimi", this.#env);
  }
}

function real(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}
