import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { CatalogueModel, HarnessCatalogue } from "../harness/catalogue.ts";

/** What there is to choose from. `native`: the real server behind us, whose models are not in the catalogue; null = none. */
export interface Offer {
  readonly catalogue: HarnessCatalogue;
  readonly native: object | null;
}

/**
 * The model that a request names for a thread, by its exact id in the catalogue. Refused: one that is not on offer, and,
 * once a harness runs the thread (`boundTo`), one of another harness.
 */
export async function resolveModel(offer: Offer, requested: string, boundTo: string | null): Promise<CatalogueModel> {
  const model = await offer.catalogue.model(requested);
  if (model === undefined) throw invalidRequest(await whyUnknown(offer, requested));
  if (boundTo !== null && model.harness !== boundTo) {
    throw invalidRequest(`this thread runs on \`${boundTo}\`, and \`${requested}\` belongs to another harness; start a new thread to use it`);
  }
  if (!model.ready) throw invalidRequest(`the model \`${requested}\` is not ready: ${model.reason ?? "its harness cannot start"}`);
  return model;
}

/** A saved session names its harness where its model is not known, and a harness that is not installed offers no models. */
async function whyUnknown({ catalogue, native }: Offer, requested: string): Promise<string> {
  const [head = ""] = requested.split("/");
  const adapter = (await catalogue.adapters()).get(head);
  const inspection = await adapter?.inspect().catch(() => null);
  if (adapter !== undefined && inspection?.ready === false) return `${adapter.manifest.displayName} is not ready: ${inspection.reason ?? "it cannot start"}`;
  if (native !== null && adapter === undefined) {
    return `this thread does not run on Codex, and \`${requested}\` is no model of another agent here; start a new thread (\`/new\`) to use a model of Codex`;
  }
  const offered = (await catalogue.models()).filter((each) => each.ready).map((each) => `\`${each.id}\``);
  return `the model \`${requested}\` is not available; available: ${offered.length === 0 ? "none" : offered.join(", ")}`;
}
