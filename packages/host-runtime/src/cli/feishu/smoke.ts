import type { createFeishuPort } from "@foldcast/feishu-channel";
import { embeddedTransport } from "../../chat/transports.ts";
import { stopHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import { feishuSettings, portOf, startChannel } from "./channel.ts";

export interface SmokeCall {
  readonly running: RunningHost;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly out: (text: string) => void;
}

const PATIENCE_MS = 60_000;

/** One scripted turn in a temporary group of a real app: sent, read back, deleted. Gives the exit code. */
export async function runSmoke({ running, env, log, out }: SmokeCall): Promise<number> {
  const settings = feishuSettings(env);
  const port = portOf(settings);
  let chatId: string | null = null;
  try {
    const made = await port.createChat({ name: "foldcast smoke test", openIds: settings.allowUsers.slice(0, 1) });
    if (made.kind !== "ok") {
      out(`fault    no group could be made: ${made.kind === "refused" ? made.refusal.msg : made.uncertainty.detail}\n`);
      return 1;
    }
    ({ chatId } = made.value);
    out(`ok       a group was made\n`);
    const { channel, close } = await startChannel({ env, dataDir: running.host.options.dataDir, connect: () => Promise.resolve(embeddedTransport(running.host)), given: {}, locks: null, log });
    try {
      await channel.promptIn(chatId, "the smoke test");
      const text = await answerIn(port, chatId);
      if (text === null) {
        out("fault    the turn's card did not show its answer in time\n");
        return 1;
      }
      out(`ok       the card was read back with its answer (${text.length} characters)\n`);
      return 0;
    } finally {
      await close();
    }
  } finally {
    if (chatId !== null) {
      const gone = await port.deleteChat(chatId);
      out(gone.kind === "ok" ? "ok       the group was deleted\n" : "warning  the group could not be deleted; delete it by hand\n");
    }
    await port.close();
    await stopHost(running);
  }
}

/** The content of the newest card once it is no longer running; null when that takes too long. */
async function answerIn(port: ReturnType<typeof createFeishuPort>, chatId: string): Promise<string | null> {
  for (let waited = 0; waited < PATIENCE_MS; waited += 1_000) {
    const page = await port.listMessages({ in: { chatId }, order: "newestFirst" });
    const card = page.kind === "ok" ? page.value.messages.find(({ messageType, senderKind }) => messageType === "interactive" && senderKind === "app") : undefined;
    if (card !== undefined && /已完成|Done/.test(card.content)) return card.content;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  return null;
}
