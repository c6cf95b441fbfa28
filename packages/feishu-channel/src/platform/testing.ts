import { startFakeFeishu, type FakeFeishu, type FakeOptions } from "../fake/index.ts";
import { createFeishuPort, type PlatformConfig } from "./feishu-port.ts";
import type { FeishuEvent, FeishuPort } from "./port.ts";
import type { PlatformLog } from "./redact.ts";

/** A fake with one person in a group with the bot, and a port on the real SDK that talks to it. For tests. */
export interface PortOnFake {
  readonly fake: FakeFeishu;
  readonly port: FeishuPort;
  readonly person: string;
  readonly chatId: string;
  readonly events: FeishuEvent[];
  readonly lines: string[];
  close(): Promise<void>;
}

export async function startPortOnFake(options: { readonly fake?: FakeOptions; readonly config?: Partial<PlatformConfig> } = {}): Promise<PortOnFake> {
  const fake = await startFakeFeishu(options.fake);
  const person = fake.addPerson({ name: "Ada" }).openId;
  const { chatId } = fake.addChat({ name: "team", people: [person] });
  const lines: string[] = [];
  const keep = (line: string): void => void lines.push(line);
  const log: PlatformLog = { error: keep, warn: keep, info: keep, debug: keep };
  const port = createFeishuPort({ appId: fake.app.appId, appSecret: fake.app.appSecret, baseUrl: fake.baseUrl, log, ...options.config });
  const events: FeishuEvent[] = [];
  return {
    fake, port, person, chatId, events, lines,
    close: async () => {
      await port.close();
      await fake.close();
    },
  };
}

/** Waits until the condition holds; throws after fifteen seconds. */
export async function until(condition: () => boolean, what = "the condition"): Promise<void> {
  for (const start = Date.now(); !condition(); ) {
    if (Date.now() - start > 15_000) throw new Error(`${what} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The value of an outcome that must be ok. */
export function valueOf<T>(outcome: { readonly kind: "ok"; readonly value: T } | { readonly kind: "refused" | "uncertain" }): T {
  if (outcome.kind !== "ok") throw new Error(`not ok: ${JSON.stringify(outcome)}`);
  return outcome.value;
}
