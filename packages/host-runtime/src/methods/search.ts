import { ThreadSearchParams } from "@foldcast/protocol-core/wire/params";
import { toWireThread } from "../threads/wire-thread.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";

/** Names and first prompts are searched; the texts of turns belong to the harnesses and are not. */
export const searchMethods: readonly Method[] = [
  method("thread/search", {
    owner: "host",
    params: ThreadSearchParams,
    experimental: true,
    async handler(params, { host }) {
      const term = params.searchTerm.trim().toLowerCase();
      const page = await host.threads.list({ ...params, searchTerm: term });
      return {
        ...page,
        data: page.data.map((record) => ({
          thread: host.threads.loaded(record.id)?.toWire() ?? toWireThread(record, null),
          snippet: record.name !== null && record.name.toLowerCase().includes(term) ? record.name : record.preview,
        })),
      };
    },
  }),
];
