import type { Locale } from "@foldcast/protocol-core/tools";
import { z } from "zod";

const list = z.string().transform((text) => text.split(/[,\s]+/).filter((part) => part !== ""));

/**
 * The environment's names and the keys of the `[feishu]` table of the configuration file. Times in milliseconds.
 */
export const FeishuSettings = z.object({
  appId: z.string().min(1),
  appSecret: z.string().min(1),
  baseUrl: z.string().optional(),
  /** `environment` (HTTPS_PROXY, NO_PROXY …), `none`, or the address of one. */
  proxy: z.string().default("environment"),
  allowUsers: z.array(z.string()).default([]),
  allowChats: z.array(z.string()).default([]),
  approvers: z.array(z.string()).default([]),
  claim: z.boolean().default(false),
  groups: z.enum(["mention", "all"]).default("mention"),
  defaultModel: z.string().nullable().default(null),
  cwd: z.string(),
  /** Where else agents may work. */
  folders: z.array(z.string()).default([]),
  /** Ids of models or of harnesses that may be used; none named = all. */
  models: z.array(z.string()).default([]),
  /** By a chat's id: what holds in that chat in place of `cwd`, `folders` and `models`. */
  chats: z.record(z.string(), z.strictObject({ cwd: z.string().optional(), folders: z.array(z.string()).min(1).optional(), models: z.array(z.string()).min(1).optional() })).default({}),
  locale: z.enum(["zh", "en"]).default("zh"),
  /** Between two writes of a running card. */
  writeIntervalMs: z.number().positive().default(500),
  /** Streaming is opened anew after this time. */
  reopenMs: z.number().positive().default(8 * 60_000),
  /** Pause before an answer that was not confirmed is tried again. */
  retryMs: z.number().positive().default(15_000),
  /** Messages older than this are answered, not carried out. */
  staleMs: z.number().positive().default(30 * 60_000),
  /** A running card is drawn anew after this time without news. */
  idleMs: z.number().positive().default(10_000),
  /** A turn that ran at least so long gets a short message of its own at its end; 0 = none. */
  pingAfterMs: z.number().nonnegative().default(5 * 60_000),
  /** How long the ledger knows what it has seen and delivered. */
  ledgerAgeMs: z.number().positive().default(14 * 24 * 3_600_000),
});
export type FeishuSettings = z.infer<typeof FeishuSettings> & { readonly locale: Locale };

/** What `FOLDCAST_FEISHU_…` says, by key; absent variables are left out. Lists are separated by commas or blanks. */
export function environmentFeishu(environment: Readonly<Record<string, string | undefined>>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const take = (name: string, key: string, read: (text: string) => unknown): void => {
    const text = environment[`FOLDCAST_FEISHU_${name}`];
    if (text !== undefined && text !== "") found[key] = read(text);
  };
  const plain = (text: string): string => text;
  take("BASE_URL", "baseUrl", plain);
  take("PROXY", "proxy", plain);
  take("APP_ID", "appId", plain);
  take("ALLOW_USERS", "allowUsers", (text) => list.parse(text));
  take("ALLOW_CHATS", "allowChats", (text) => list.parse(text));
  take("APPROVERS", "approvers", (text) => list.parse(text));
  take("DEFAULT_MODEL", "defaultModel", plain);
  take("CWD", "cwd", plain);
  take("LOCALE", "locale", (text) => (text.toLowerCase().startsWith("en") ? "en" : "zh"));
  take("CLAIM", "claim", (text) => text === "1" || text === "true");
  take("GROUPS", "groups", plain);
  take("FOLDERS", "folders", (text) => list.parse(text));
  take("MODELS", "models", (text) => list.parse(text));
  take("CHATS", "chats", jsonOr);
  for (const [name, key] of [["WRITE_INTERVAL_MS", "writeIntervalMs"], ["REOPEN_MS", "reopenMs"], ["RETRY_MS", "retryMs"], ["STALE_MS", "staleMs"], ["IDLE_MS", "idleMs"], ["LEDGER_AGE_MS", "ledgerAgeMs"], ["PING_AFTER_MS", "pingAfterMs"]] as const) take(name, key, Number);
  return found;
}

/** What is no JSON stays a text, which the settings refuse by their name. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
