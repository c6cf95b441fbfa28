import type { SdkWsClient } from "./sdk.ts";

interface Header {
  readonly key: string;
  readonly value: string;
}

/** Members of the SDK's client (1.74.0) that are no part of its declared interface. */
interface WsInside {
  handleEventData?: (frame: { readonly headers: readonly Header[] }) => Promise<void>;
  wsConfig?: { updateWs?: (config: Record<string, unknown>) => void };
}

/**
 * Two repairs of the SDK's connection, each left out when the inside is not as known (then the answer tells which):
 * - Frames of type `card` (card callbacks of the older subscription) are dropped by the SDK without acknowledgement,
 *   so that the reader sees an error; they are handled as events.
 * - The interval of its pings comes from the server, usually two minutes, and silence is only noticed after a ping: it is
 *   capped. It is also kept above the ping time-out, since each ping starts the watch for silence anew.
 * - Its pauses before reconnecting come from the server too; until the server has spoken they are up to 30 s and then 120 s,
 *   in which clicks are lost for good. They are shorter here. A server that leaves a number out would make the SDK ping
 *   or reconnect without any pause.
 */
export function adaptWsClient(client: SdkWsClient, ping: { readonly timeoutMs: number; readonly capMs: number }): readonly string[] {
  const inside = client as unknown as WsInside;
  const missing: string[] = [];
  const handle = inside.handleEventData?.bind(client);
  if (handle === undefined) missing.push("card frames");
  else {
    inside.handleEventData = (frame) => {
      if (!frame.headers.some(({ key, value }) => key === "type" && value === "card")) return handle(frame);
      return handle({ ...frame, headers: frame.headers.map((header) => (header.key === "type" ? { key: "type", value: "event" } : header)) });
    };
  }
  const config = inside.wsConfig;
  const update = config?.updateWs?.bind(config);
  if (config === undefined || update === undefined) missing.push("times");
  else {
    const bounds: Readonly<Record<string, { readonly min: number; readonly max: number; readonly first: number }>> = {
      pingInterval: { min: ping.timeoutMs * 1.2, max: ping.capMs, first: ping.capMs },
      reconnectNonce: { min: 0, max: 10_000, first: 1_000 },
      reconnectInterval: { min: 500, max: 30_000, first: 5_000 },
    };
    config.updateWs = (change) => {
      const bounded = Object.entries(change).map(([name, value]) => {
        const bound = bounds[name];
        if (bound === undefined) return [name, value];
        return [name, typeof value === "number" && Number.isFinite(value) ? Math.max(bound.min, Math.min(value, bound.max)) : bound.first];
      });
      update(Object.fromEntries(bounded) as Record<string, unknown>);
    };
    config.updateWs(Object.fromEntries(Object.entries(bounds).map(([name, { first }]) => [name, first])));
  }
  return missing;
}
