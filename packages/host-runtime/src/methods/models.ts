import { invalidRequest } from "@foldcast/protocol-core/wire";
import { ModelListParams } from "@foldcast/protocol-core/wire/params";
import { toWireModel } from "../harness/catalogue.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";

export const modelMethods: readonly Method[] = [
  method("model/list", {
    owner: "host",
    params: ModelListParams,
    async handler({ cursor, limit, includeHidden }, { host }) {
      const first = await host.catalogue.defaultModel();
      const models = (await host.catalogue.models())
        .map((entry) => toWireModel(entry, entry.id === first?.id))
        .filter((model) => includeHidden === true || !model.hidden);
      // The cursor is the number of models before the page, as the real server's.
      const from = cursor == null ? 0 : Number(cursor);
      if (!Number.isInteger(from) || from < 0) throw invalidRequest(`invalid cursor: ${cursor ?? ""}`);
      const to = limit == null ? models.length : from + Math.max(limit, 1);
      return { data: models.slice(from, to), nextCursor: to < models.length ? String(to) : null };
    },
  }),
];
