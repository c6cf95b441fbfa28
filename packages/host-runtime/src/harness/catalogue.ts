import type { HarnessAdapter, HarnessDefinition, HarnessEnvironment, HarnessInspection, HarnessModel } from "@foldcast/protocol-core/harness";
import type { ToolMap } from "@foldcast/protocol-core/tools";
import type { Model } from "@foldcast/protocol-core/wire";
import type { Logger } from "../log/logger.ts";

/** One entry of the adapter registry; `load` brings in the adapter's code. */
export interface HarnessEntry {
  id: string;
  load(): Promise<HarnessDefinition>;
}

/** A model on offer. `id` is `<harness>/<model>`, what clients choose by. */
export interface CatalogueModel {
  id: string;
  harness: string;
  harnessName: string;
  model: HarnessModel;
  ready: boolean;
  reason: string | null;
}

export interface CatalogueOptions {
  entries: readonly HarnessEntry[];
  /** Maps of harnesses without an adapter of their own, for recordings made with their tools. */
  extraToolMaps: Readonly<Record<string, ToolMap>>;
  environment(id: string, toolMaps: Readonly<Record<string, ToolMap>>): HarnessEnvironment;
  settings(id: string): Readonly<Record<string, unknown>>;
  now: () => number;
  log: Logger;
}

const INSPECTION_TTL_MS = 30_000;

/**
 * The adapters, loaded on first use, and the models that they offer. An adapter that cannot be loaded or looked at is
 * one that is not ready; it never takes the others with it.
 */
export class HarnessCatalogue {
  readonly #options: CatalogueOptions;
  #loading: Promise<ReadonlyMap<string, HarnessAdapter>> | null = null;
  #inspection: { at: number; models: Promise<readonly CatalogueModel[]> } | null = null;
  #toolMaps: Readonly<Record<string, ToolMap>> = {};

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  /** Tool maps by harness id; complete once `adapters` has resolved. */
  get toolMaps(): Readonly<Record<string, ToolMap>> {
    return this.#toolMaps;
  }

  /** In the registry's order. Never rejects. */
  adapters(): Promise<ReadonlyMap<string, HarnessAdapter>> {
    return (this.#loading ??= this.#load());
  }

  /** Rejects with a readable message when there is no such harness here. */
  async adapter(id: string): Promise<HarnessAdapter> {
    const adapter = (await this.adapters()).get(id);
    if (adapter === undefined) throw new Error(`the harness \`${id}\` is not available here`);
    return adapter;
  }

  /** All models in the registry's order, those of harnesses that are not ready too. Looked up anew after a while. */
  models(): Promise<readonly CatalogueModel[]> {
    const now = this.#options.now();
    if (this.#inspection === null || now - this.#inspection.at > INSPECTION_TTL_MS) {
      this.#inspection = { at: now, models: this.#inspectAll() };
    }
    return this.#inspection.models;
  }

  /** The exact model, or undefined. */
  async model(id: string): Promise<CatalogueModel | undefined> {
    return (await this.models()).find((each) => each.id === id);
  }

  /** The first model that is ready; null when there is none at all. */
  async defaultModel(): Promise<CatalogueModel | null> {
    return (await this.models()).find((each) => each.ready) ?? null;
  }

  async close(): Promise<void> {
    if (this.#loading === null) return;
    await Promise.allSettled([...(await this.#loading).values()].map((adapter) => adapter.close()));
  }

  async #load(): Promise<ReadonlyMap<string, HarnessAdapter>> {
    const definitions = await Promise.all(this.#options.entries.map((entry) => this.#attempt(entry.id, "load", () => entry.load())));
    const loaded = definitions.filter((each) => each !== null);
    this.#toolMaps = {
      ...this.#options.extraToolMaps,
      ...Object.fromEntries(loaded.map(({ manifest }) => [manifest.id, manifest.tools])),
    };
    const adapters = await Promise.all(loaded.map((definition) => {
      const { id } = definition.manifest;
      return this.#attempt(id, "create", async () => definition.create(this.#options.environment(id, this.#toolMaps), this.#options.settings(id)));
    }));
    return new Map(adapters.filter((each) => each !== null).map((adapter) => [adapter.manifest.id, adapter]));
  }

  async #inspectAll(): Promise<readonly CatalogueModel[]> {
    const adapters = [...(await this.adapters()).values()];
    const inspections = await Promise.all(adapters.map((adapter) => this.#attempt(adapter.manifest.id, "inspect", () => adapter.inspect())));
    return adapters.flatMap((adapter, at) => modelsOf(adapter, inspections[at] ?? null));
  }

  async #attempt<T>(id: string, what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.#options.log.error(`cannot ${what} the harness`, { harness: id, error });
      return null;
    }
  }
}

function modelsOf({ manifest }: HarnessAdapter, inspection: HarnessInspection | null): CatalogueModel[] {
  if (inspection === null) return [];
  return inspection.models.map((model) => ({
    id: `${manifest.id}/${model.id}`,
    harness: manifest.id,
    harnessName: manifest.displayName,
    model,
    ready: inspection.ready,
    reason: inspection.reason,
  }));
}

/** The wire's form. A model whose harness is not ready is hidden. */
export function toWireModel(entry: CatalogueModel, isDefault: boolean): Model {
  const { model } = entry;
  return {
    id: entry.id,
    model: entry.id,
    upgrade: null,
    upgradeInfo: null,
    availabilityNux: null,
    displayName: `${entry.harnessName}: ${model.displayName}`,
    description: entry.reason ?? model.description,
    modelSpecialty: null,
    hidden: !entry.ready,
    supportedReasoningEfforts: model.efforts.map((effort) => ({ reasoningEffort: effort, description: `${effort} reasoning` })),
    defaultReasoningEffort: model.defaultEffort === "" ? "medium" : model.defaultEffort,
    inputModalities: model.images ? ["text", "image"] : ["text"],
    supportsPersonality: false,
    multiAgentVersion: null,
    additionalSpeedTiers: [],
    serviceTiers: [],
    defaultServiceTier: null,
    availableAccessPrograms: null,
    isDefault,
  };
}
