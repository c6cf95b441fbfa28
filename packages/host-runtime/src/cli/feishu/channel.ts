import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createFeishuPort, Documents, environmentFeishu, FeishuChannel, FeishuSettings } from "@foldcast/feishu-channel";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { loadSqlDriver } from "../../store/sqlite-driver.ts";
import { VERSION } from "../../version.ts";
import { UsageError } from "../usage-error.ts";

export interface RunningChannel {
  readonly channel: FeishuChannel;
  readonly appId: string;
  readonly close: () => Promise<void>;
}

export interface ChannelSource {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  /** Opens a link to the server, again after each loss. */
  readonly connect: () => Promise<ClientTransport>;
  /** Before the environment, e.g. of the demo. */
  readonly given?: Readonly<Record<string, unknown>>;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** What the environment says of the app; throws a `UsageError` that names what is missing. */
export function feishuSettings(env: NodeJS.ProcessEnv, given: Readonly<Record<string, unknown>> = {}): FeishuSettings {
  const raw: Record<string, unknown> = { cwd: process.cwd(), ...environmentFeishu(env), ...given };
  const secretFile = env["FOLDCAST_FEISHU_APP_SECRET_FILE"];
  if (raw["appSecret"] === undefined && secretFile !== undefined) {
    if (!existsSync(secretFile)) throw new UsageError(`FOLDCAST_FEISHU_APP_SECRET_FILE names \`${secretFile}\`, and there is no such file`);
    raw["appSecret"] = readFileSync(secretFile, "utf8").trim();
  }
  if (raw["appId"] === undefined) throw new UsageError("FOLDCAST_FEISHU_APP_ID is not set; foldcast feishu setup says how to make an app, foldcast feishu --demo needs none");
  if (raw["appSecret"] === undefined) throw new UsageError("FOLDCAST_FEISHU_APP_SECRET_FILE is not set: the file that holds the app's secret");
  const read = FeishuSettings.safeParse(raw);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(`the Feishu setting \`${issue?.path.join(".") ?? ""}\` is wrong: ${issue?.message ?? ""}`);
}

/** Starts the channel on this data folder. Rejects when the server or the app cannot be used. */
export async function startChannel({ env, dataDir, connect, given, log }: ChannelSource): Promise<RunningChannel> {
  const settings = feishuSettings(env, given);
  const driver = loadSqlDriver();
  if (driver === null) throw new UsageError("the Feishu channel keeps a ledger in SQLite, and this Node has none: install better-sqlite3, or use Node 22.13 or later");
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const database = driver(join(dataDir, "feishu.sqlite"));
  const clock = { now: () => Date.now(), sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) };
  const port = createFeishuPort({
    appId: settings.appId, appSecret: settings.appSecret, ...(settings.baseUrl === undefined ? {} : { baseUrl: settings.baseUrl }),
    log: { error: (line) => log(line, {}), warn: (line) => log(line, {}), info: () => undefined, debug: () => undefined },
  });
  const channel = new FeishuChannel({ port, connect, documents: new Documents(database, clock.now), settings, dataDir, version: VERSION, clock, log });
  const close = async (): Promise<void> => {
    await channel.close();
    database.close();
  };
  try {
    await channel.start();
  } catch (error) {
    await close();
    throw error;
  }
  return { channel, appId: settings.appId, close };
}
