import type { z } from "zod";
import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { Model } from "@foldcast/protocol-core/wire";
import { ModelListParams } from "@foldcast/protocol-core/wire/params";
import { toWireModel } from "../harness/catalogue.ts";
import type { Host } from "../host.ts";
import { decodePlace, START } from "../native/cursors.ts";
import { membersOf, textMember } from "../native/json-bytes.ts";
import { listJson, mergedPage } from "../native/merge.ts";
import type { OurPage } from "../native/merge.ts";
import type { NativeSession } from "../native/session.ts";
import { RawJson } from "../rpc/raw-json.ts";
import { nativeOf, nativePage } from "./behind.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";

type ModelPage = z.infer<typeof ModelListParams>;

async function ourModels(host: Host, includeHidden: boolean): Promise<Model[]> {
  const first = await host.catalogue.defaultModel();
  return (await host.catalogue.models()).map((entry) => toWireModel(entry, entry.id === first?.id)).filter((model) => includeHidden || !model.hidden);
}

/** The cursor is the number of models before the page, as the real server's. */
function pageOf(models: readonly Model[], cursor: string | null, limit: number | null): { from: number; data: Model[] } {
  const from = cursor === null ? 0 : Number(cursor);
  if (!Number.isInteger(from) || from < 0) throw invalidRequest(`invalid cursor: ${cursor ?? ""}`);
  return { from, data: models.slice(from, limit === null ? models.length : from + Math.max(limit, 1)) };
}

/** The real server's models as they come, then ours, with those members that its own have; the default is one of its own. */
async function modelsOfBoth(native: NativeSession, params: ModelPage, host: Host): Promise<RawJson> {
  const { cursor, limit } = params;
  const models = await ourModels(host, params.includeHidden === true);
  const ours = (at: string | null, count: number | null): Promise<OurPage> => {
    const { from, data } = pageOf(models, at, count);
    return Promise.resolve({
      entries: data.map((value, index) => ({ time: 0, cursor: String(from + index + 1), value })), hasMore: from + data.length < models.length, backwardsCursor: null,
    });
  };
  const page = await mergedPage({
    place: cursor == null ? START : decodePlace(cursor),
    limit: limit == null ? null : Math.max(limit, 1),
    sign: 1,
    native: (at, count) => nativePage(native, "model/list", params, at, count),
    ours,
    keyOf(element) {
      host.native!.modelMembers = new Set(membersOf(element)?.keys());
      return { id: textMember(element, 0, "id") ?? "", time: 0 };
    },
  });
  const known = host.native!.modelMembers;
  const fitted = (model: object): object =>
    known === null ? model : Object.fromEntries(Object.entries({ ...model, isDefault: false }).filter(([name]) => known.has(name)));
  return new RawJson(listJson(page.data.map((each) => (typeof each === "string" || Buffer.isBuffer(each) ? each : fitted(each))), [...page.rest, ["nextCursor", JSON.stringify(page.nextCursor)]]));
}

export const modelMethods: readonly Method[] = [
  method("model/list", {
    owner: "host",
    params: ModelListParams,
    async handler(params, context) {
      const { host } = context;
      const native = nativeOf(context);
      if (native !== null) return modelsOfBoth(native, params, host);
      const models = await ourModels(host, params.includeHidden === true);
      const { from, data } = pageOf(models, params.cursor ?? null, params.limit ?? null);
      const to = from + data.length;
      return { data, nextCursor: to < models.length ? String(to) : null };
    },
  }),
];
