import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { CatalogueModel, HarnessCatalogue } from "../harness/catalogue.ts";

/**
 * The model that a request names for a thread, by its exact id in the catalogue. Refused: one that is not on offer, and,
 * once a harness runs the thread (`boundTo`), one of another harness.
 */
export async function resolveModel(catalogue: HarnessCatalogue, requested: string, boundTo: string | null): Promise<CatalogueModel> {
  const model = await catalogue.model(requested);
  if (model === undefined) {
    const offered = (await catalogue.models()).filter((each) => each.ready).map((each) => `\`${each.id}\``);
    throw invalidRequest(`the model \`${requested}\` is not available; available: ${offered.length === 0 ? "none" : offered.join(", ")}`);
  }
  if (boundTo !== null && model.harness !== boundTo) {
    throw invalidRequest(`this thread runs on \`${boundTo}\`, and \`${requested}\` belongs to another harness; start a new thread to use it`);
  }
  if (!model.ready) throw invalidRequest(`the model \`${requested}\` is not ready: ${model.reason ?? "its harness cannot start"}`);
  return model;
}
