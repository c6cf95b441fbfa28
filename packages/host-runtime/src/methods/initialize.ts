import { policyFor } from "@foldcast/protocol-core/delivery";
import { invalidRequest } from "@foldcast/protocol-core/wire";
import { FoldcastExtension, InitializeParams } from "@foldcast/protocol-core/wire/params";
import { Reply } from "../rpc/reply.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";

/** The real server names its clients to others in a header, and takes no name that cannot stand there. */
function isHeaderValue(name: string): boolean {
  return !Array.from(name).some((character) => (character < " " && character !== "\t") || character === "\u007f");
}

export const initializeMethods: readonly Method[] = [
  method("initialize", {
    owner: "host",
    params: InitializeParams,
    handler({ clientInfo, capabilities }, { host, connection }) {
      if (connection.session !== null) throw invalidRequest("Already initialized");
      if (!isHeaderValue(clientInfo.name)) throw invalidRequest(`Invalid clientInfo.name: '${clientInfo.name}'. Must be a valid HTTP header value.`);
      const extension = FoldcastExtension.safeParse(capabilities?.extensions?.["foldcast"]);
      const title = clientInfo.title ?? null;
      const channel = extension.data?.channel ?? null;
      connection.session = {
        name: clientInfo.name,
        version: clientInfo.version,
        experimental: capabilities?.experimentalApi ?? false,
        optOut: new Set(capabilities?.optOutNotificationMethods ?? []),
        policy: policyFor({ name: clientInfo.name, title }, host.options.dialect),
        detail: extension.data?.detail ?? false,
        interaction: extension.data?.interaction ?? false,
        channel: channel === null ? null : { name: channel.name, approvers: channel.approvers ?? [] },
      };
      const { native } = host;
      const { family, os } = host.platform;
      const userAgent = host.userAgent(clientInfo.name, clientInfo.version);
      const result = (): object => ({ userAgent, codexHome: host.codexHome, platformFamily: family, platformOs: os });
      if (native === null) return new Reply(result(), () => connection.notify("remoteControl/status/changed", host.remoteControlStatus()));
      // Its own notifications follow the answer, in the place of ours.
      return native.introduce(connection).then(() => new Reply(result(), () => native.release(connection)));
    },
  }),
];
