import { createHash } from "node:crypto";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createFeishuPort, Documents, environmentFeishu, FeishuChannel, FeishuSettings, type PlatformLog } from "@foldcast/feishu-channel";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { StoreLock, StoreLockedError } from "../../store/lock.ts";
import { loadSqlDriver } from "../../store/sqlite-driver.ts";
import type { SqlDriver } from "../../store/sqlite-driver.ts";
import { VERSION } from "../../version.ts";
import { UsageError } from "../usage-error.ts";
import { DiskSync } from "./disk-sync.ts";

type Port = ReturnType<typeof createFeishuPort>;

export interface RunningChannel {
  readonly channel: FeishuChannel;
  readonly appId: string;
  /** Told of each change of the long connection. */
  readonly onConnection: Port["onConnection"];
  readonly close: () => Promise<void>;
}

export interface ChannelSource {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  /** Opens a link to the server, again after each loss. */
  readonly connect: () => Promise<ClientTransport>;
  /** Before the environment, e.g. of the demo. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Where the processes of this machine agree on who listens for which app; null = nobody else can. */
  readonly locks: string | null;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Another process of this machine listens for the app. */
class AppInUseError extends Error {
  readonly exitCode = 4;
}

/** What the environment says of the app; throws a `UsageError` that names what is missing. */
export function feishuSettings(env: NodeJS.ProcessEnv, given: Readonly<Record<string, unknown>> = {}): FeishuSettings {
  const raw: Record<string, unknown> = { cwd: process.cwd(), ...environmentFeishu(env), ...given };
  const secretFile = env["FOLDCAST_FEISHU_APP_SECRET_FILE"];
  if (raw["appSecret"] === undefined && secretFile !== undefined && secretFile !== "") raw["appSecret"] = secretIn(secretFile);
  if (raw["appId"] === undefined) throw new UsageError("FOLDCAST_FEISHU_APP_ID is not set, nor app_id under [feishu]; foldcast feishu setup says how to make an app, foldcast feishu --demo needs none");
  if (raw["appSecret"] === undefined) throw new UsageError("FOLDCAST_FEISHU_APP_SECRET_FILE is not set, nor app_secret_file under [feishu]: the file that holds the app's secret");
  const read = FeishuSettings.safeParse(raw);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(`the Feishu setting \`${issue?.path.join(".") ?? ""}\` is wrong: ${issue?.message ?? ""}`);
}

function secretIn(file: string): string {
  const how = `to make it: (umask 077; cat > ${file}), paste the secret, Enter, Ctrl+D`;
  let secret: string;
  try {
    secret = readFileSync(file, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw new UsageError(`there is no file ${file} with the app's secret (FOLDCAST_FEISHU_APP_SECRET_FILE); ${how}`);
    throw new UsageError(`cannot read the app's secret: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (secret === "") throw new UsageError(`the file ${file} (FOLDCAST_FEISHU_APP_SECRET_FILE) is empty; ${how}`);
  return secret;
}

/** The app's side; nothing is sent yet. Throws where it can never work, or the SDK is not installed. */
export function portOf({ appId, appSecret, baseUrl, proxy }: FeishuSettings, log?: PlatformLog): Port {
  return createFeishuPort({ appId, appSecret, proxy, ...(baseUrl === undefined ? {} : { baseUrl }), ...(log === undefined ? {} : { log }) });
}

/** Starts the channel on this data folder. Rejects when the server or the app cannot be used, or another process uses it. */
export async function startChannel({ env, dataDir, connect, given, locks, log }: ChannelSource): Promise<RunningChannel> {
  const settings = feishuSettings(env, given);
  const driver = loadSqlDriver();
  if (driver === null) throw new UsageError("the Feishu channel keeps a ledger in SQLite, and this Node has none: install better-sqlite3, or use Node 22.13 or later");
  const port = portOf(settings, { error: (line) => log(line, {}), warn: (line) => log(line, {}), info: () => undefined, debug: () => undefined });
  if (settings.allowUsers.length === 0 && settings.allowChats.length === 0 && !settings.claim) log("nobody may talk to the bot: name people in allow_users, or set claim = true", {});
  const lock = locks === null ? null : await takeApp(driver, locks, settings, log);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, "feishu.sqlite");
  // What people wrote stands in it; the files that SQLite puts beside it take its mode.
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const database = driver(file);
  const onDisk = new DiskSync(`${file}-wal`, (reason) => log("the ledger could not be brought onto the disk", { reason }));
  const clock = { now: () => Date.now(), sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) };
  const channel = new FeishuChannel({ port, connect, documents: new Documents(database, clock.now, () => onDisk.soon()), settings, dataDir, version: VERSION, clock, log });
  const close = async (): Promise<void> => {
    await channel.close();
    await onDisk.close();
    database.close();
    lock?.release();
  };
  try {
    await channel.start();
  } catch (error) {
    await close();
    throw error;
  }
  return { channel, appId: settings.appId, onConnection: (listener) => port.onConnection(listener), close };
}

/** A process that was told to end may take so long for it. */
const LOCK_PATIENCE_MS = 5_000;

/**
 * Feishu gives each event to one of an app's connections only: two processes would take each other's messages. Rejects
 * with an `AppInUseError`; null where no lock can be kept, which is no reason to stay away.
 */
export async function takeApp(driver: SqlDriver, locks: string, { appId, baseUrl }: Pick<FeishuSettings, "appId" | "baseUrl">, log: ChannelSource["log"], patienceMs = LOCK_PATIENCE_MS): Promise<StoreLock | null> {
  const folder = join(locks, `${appId}-${createHash("sha256").update(baseUrl ?? "feishu").digest("hex").slice(0, 8)}`);
  for (let waited = 0; ; waited += 250) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return StoreLock.take(driver, folder);
    } catch (error) {
      if (!(error instanceof StoreLockedError)) {
        log("nobody keeps a second process from talking for this app", { reason: error instanceof Error ? error.message : String(error) });
        return null;
      }
      const who = error.owner === null ? "another foldcast" : `another foldcast (process ${error.owner.pid})`;
      if (waited >= patienceMs) throw new AppInUseError(`${who} talks for ${appId} on this machine already; two would take each other's messages. Stop it first`);
      await pause(250);
    }
  }
}
