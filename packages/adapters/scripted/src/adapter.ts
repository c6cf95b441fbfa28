import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { readPieces } from "@foldcast/adapter-kit";
import type {
  HarnessAdapter, HarnessEnvironment, HarnessInspection, HarnessModel, HarnessSession, HistorySource, OpenRequest, SessionOptions,
} from "@foldcast/protocol-core/harness";
import { ChildEngine, defaultChildCommand } from "./engine/child.ts";
import { LocalEngine } from "./engine/local.ts";
import { HARNESS_ID, manifest } from "./manifest.ts";
import { loadScenarios } from "./scenario/load.ts";
import { modelOf, type Scenario } from "./scenario/schema.ts";
import { embeddedScenarios } from "./scenarios/index.ts";
import { SessionFile, type SessionHeader } from "./session/file.ts";
import { historySource, SessionIndex } from "./session/history.ts";
import { ScriptedSession } from "./session/session.ts";

/** What is played; a scenario file names it as `schema`. */
const VERSION = "1";

const settingsSchema = z.object({
  /** A scenario file, or a folder of them; its scenarios come before the embedded ones and replace those of the same model. */
  scenarios: z.string().min(1).optional(),
  /** 2 = twice as fast, 0 = no delays. */
  speed: z.number().min(0).default(1),
  /** Play in a child process for each session. */
  process: z.boolean().default(false),
  childCommand: z.array(z.string()).min(1).optional(),
});
type Settings = z.infer<typeof settingsSchema>;

interface Catalogue {
  scenarios: readonly Scenario[];
  problems: readonly string[];
  /** False when scenarios were asked for and none of them can be used. */
  ready: boolean;
}

const NEWLINE = Buffer.from("\n");
/** Ids become file names. */
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

export class ScriptedAdapter implements HarnessAdapter {
  readonly manifest = manifest;
  readonly history: HistorySource;
  readonly #environment: HarnessEnvironment;
  readonly #settings: Settings;
  readonly #folder: string;
  /** By file: two writers of one file would mix their turns. */
  readonly #sessions = new Map<string, ScriptedSession>();
  readonly #opening = new Set<string>();
  #catalogue: Promise<Catalogue> | null = null;
  #closed = false;

  constructor(environment: HarnessEnvironment, settings: Readonly<Record<string, unknown>>) {
    const parsed = settingsSchema.safeParse(settings);
    if (!parsed.success) throw new Error(`Settings of the scripted harness: ${z.prettifyError(parsed.error)}`);
    this.#environment = environment;
    this.#settings = parsed.data;
    this.#folder = join(environment.dataDir, HARNESS_ID, "sessions");
    this.history = historySource(this.#folder, (file) => this.#sessions.get(file)?.runningTurn ?? null);
  }

  async inspect(): Promise<HarnessInspection> {
    const { scenarios, problems, ready } = await this.#load();
    return {
      ready,
      reason: problems.length === 0 ? null : `${problems.join(" ")} See \`foldcast scenario check FILE\`.`,
      version: VERSION,
      models: scenarios.map(toModel),
    };
  }

  async open(request: OpenRequest): Promise<HarnessSession> {
    const catalogue = await this.#load();
    this.#demandOpen();
    if (!catalogue.ready) throw new Error(catalogue.problems.join(" "));
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    switch (request.kind) {
      case "create": {
        const scenario = findScenario(catalogue, request.options.model);
        const header = this.#header(scenario, request.options);
        const file = SessionFile.create(this.#fileOf(header.id), header);
        return this.#begin({ header, options: request.options, file, scenario, catalogue, firstTurn: 1 });
      }
      case "resume":
        return await this.#resume(request.nativeSessionId, request.options, catalogue);
      case "fork":
        return await this.#fork(request.nativeSessionId, request.throughTurnKey ?? null, request.options, catalogue);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #resume(id: string, options: SessionOptions, catalogue: Catalogue): Promise<HarnessSession> {
    const path = this.#fileOf(id);
    if (this.#sessions.has(path) || this.#opening.has(path)) throw new Error(`The session ${id} is open already.`);
    this.#opening.add(path);
    try {
      const index = await this.#index(id);
      const scenario = findScenario(catalogue, options.model ?? index.header.model);
      this.#demandOpen();
      return this.#begin({ header: index.header, options, file: SessionFile.append(path), scenario, catalogue, firstTurn: nextTurn(index.turns) });
    } finally {
      this.#opening.delete(path);
    }
  }

  async #fork(id: string, throughTurnKey: string | null, options: SessionOptions, catalogue: Catalogue): Promise<HarnessSession> {
    const source = await this.#index(id);
    const scenario = findScenario(catalogue, options.model ?? source.header.model);
    const last = throughTurnKey === null ? source.scannedTurns.length - 1 : source.scannedTurns.findIndex((turn) => turn.key === throughTurnKey);
    if (throughTurnKey !== null && last === -1) throw new Error(`The session ${id} has no turn ${throughTurnKey}.`);
    const kept = source.scannedTurns.slice(0, last + 1);
    const header = {
      ...this.#header(scenario, options),
      forkedFrom: throughTurnKey === null ? { id } : { id, throughTurnKey },
    };
    const file = SessionFile.create(this.#fileOf(header.id), header);
    try {
      const reader = await open(source.file, "r");
      try {
        for (const turn of kept) {
          await readPieces(reader, turn.pieces.list(), (bytes, start, end) => file.write(Buffer.concat([bytes.subarray(start, end), NEWLINE])));
        }
      } finally {
        await reader.close();
      }
      this.#demandOpen();
      return this.#begin({ header, options, file, scenario, catalogue, firstTurn: nextTurn(kept) });
    } catch (error) {
      file.close();
      await rm(file.path, { force: true });
      throw error;
    }
  }

  #begin({ header, options, file, scenario, catalogue, firstTurn }: {
    header: SessionHeader; options: SessionOptions; file: SessionFile; scenario: Scenario; catalogue: Catalogue; firstTurn: number;
  }): HarnessSession {
    const { speed, process: inChild, childCommand } = this.#settings;
    const environment = this.#environment;
    const session = new ScriptedSession({
      nativeSessionId: header.id,
      file,
      environment,
      scenario,
      cwd: options.cwd === header.cwd ? null : options.cwd,
      firstTurn,
      speed,
      findScenario: (model) => findScenario(catalogue, model),
      makeEngine: (sink) => inChild
        ? new ChildEngine(childCommand ?? defaultChildCommand(), sink, (...entry) => environment.log(...entry))
        : new LocalEngine(environment, sink),
      onEnd: () => this.#sessions.delete(file.path),
    });
    if (!session.isOver) this.#sessions.set(file.path, session);
    return session;
  }

  #load(): Promise<Catalogue> {
    this.#catalogue ??= loadCatalogue(this.#settings.scenarios, this.#environment);
    return this.#catalogue;
  }

  #demandOpen(): void {
    if (this.#closed) throw new Error("The scripted harness is closed.");
  }

  #header(scenario: Scenario, options: SessionOptions): SessionHeader {
    return {
      type: "session", version: 1, harness: HARNESS_ID, id: this.#environment.newId(),
      cwd: options.cwd, createdAt: this.#environment.now(), model: modelOf(scenario),
    };
  }

  #fileOf(id: string): string {
    if (!SESSION_ID.test(id)) throw new Error(`"${id}" is no id of a scripted session.`);
    return join(this.#folder, `${id}.jsonl`);
  }

  async #index(id: string): Promise<SessionIndex> {
    try {
      return await SessionIndex.open(this.#fileOf(id), () => null);
    } catch (error) {
      throw new Error(`There is no scripted session ${id}.`, { cause: error });
    }
  }
}

async function loadCatalogue(path: string | undefined, environment: HarnessEnvironment): Promise<Catalogue> {
  const own = path === undefined ? { scenarios: [], problems: [] } : await loadScenarios(path);
  // The inspection tells a person; a log line would say it twice.
  for (const problem of own.problems) environment.log("info", "A scenario cannot be used", { problem });
  const taken = new Set(own.scenarios.map(modelOf));
  return {
    scenarios: [...own.scenarios, ...embeddedScenarios.filter((scenario) => !taken.has(modelOf(scenario)))],
    problems: own.problems,
    ready: path === undefined || own.scenarios.length > 0,
  };
}

/** Without a model: the first scenario. */
function findScenario(catalogue: Catalogue, model: string | null): Scenario {
  const scenario = model === null ? catalogue.scenarios[0] : catalogue.scenarios.find((candidate) => modelOf(candidate) === model);
  if (scenario === undefined) {
    throw new Error(`There is no scripted model "${model ?? ""}"; there are: ${catalogue.scenarios.map(modelOf).join(", ")}.`);
  }
  return scenario;
}

function toModel(scenario: Scenario): HarnessModel {
  return {
    id: modelOf(scenario),
    displayName: scenario.name,
    description: scenario.description ?? "A scripted conversation that plays the same every time.",
    efforts: ["medium"],
    defaultEffort: "medium",
    images: true,
  };
}

/** Turn keys are `t1`, `t2`, …; a file may have gaps where lines of it were lost. */
function nextTurn(turns: readonly { key: string }[]): number {
  return 1 + turns.reduce((highest, { key }) => Math.max(highest, /^t\d{1,15}$/.test(key) ? Number(key.slice(1)) : 0), 0);
}
