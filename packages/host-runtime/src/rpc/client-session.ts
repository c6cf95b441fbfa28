import type { DeliveryPolicy } from "@foldcast/protocol-core/delivery";
import type { ChannelIdentity } from "../interactions/policy.ts";

/** What one client said in `initialize`, and what follows from it for everything that it is sent. */
export interface ClientSession {
  name: string;
  version: string;
  experimental: boolean;
  optOut: ReadonlySet<string>;
  policy: DeliveryPolicy;
  /** The client asked for the namespaced `foldcast` member on items. */
  detail: boolean;
  /** The client understands channel-neutral interactions. */
  interaction: boolean;
  /** Set for a client that speaks for people. */
  channel: ChannelIdentity | null;
}
