import { RpcClient } from "@foldcast/protocol-core/client";
import type { Model } from "@foldcast/protocol-core/wire";
import { embeddedTransport } from "../chat/transports.ts";
import type { Host } from "../host.ts";
import { VERSION } from "../version.ts";

const NOT_SUPPORTED = -32601;
/** The most that one page of the real server holds. */
const PAGE = 100;

/** The models of the real Codex behind a host, in its own order; none where it does not answer. */
export async function nativeModels(host: Host): Promise<Model[]> {
  const rpc: RpcClient = new RpcClient(embeddedTransport(host), {
    notification: () => undefined,
    request: ({ id, method }) => rpc.refuse(id, NOT_SUPPORTED, `nobody is here to answer ${method}`),
    closed: () => undefined,
  });
  try {
    await rpc.request("initialize", { clientInfo: { name: "foldcast-models", title: "foldcast models", version: VERSION }, capabilities: { experimentalApi: true } });
    rpc.notify("initialized");
    const { data } = await rpc.request<{ data: Model[] }>("model/list", { limit: PAGE });
    const ours = new Set((await host.catalogue.models()).map(({ id }) => id));
    return data.filter(({ id }) => !ours.has(id));
  } finally {
    rpc.close();
  }
}
