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
 *   capped. It is also kept above the ping time-out, since each ping starts the watch for silence anew; and a server that
 *   leaves the interval out would make the SDK ping without pause.
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
  if (config === undefined || update === undefined) missing.push("ping interval");
  else {
    const floorMs = ping.timeoutMs * 1.2;
    const bounded = (interval: unknown): number => Math.max(floorMs, typeof interval === "number" && interval > 0 ? Math.min(interval, ping.capMs) : ping.capMs);
    config.updateWs = (change) => update("pingInterval" in change ? { ...change, pingInterval: bounded(change["pingInterval"]) } : change);
    config.updateWs({ pingInterval: ping.capMs });
  }
  return missing;
}
