import { stat } from "node:fs/promises";
import { CALLBACKS, type createFeishuPort, EVENTS, type FeishuSettings, missingScopes, NEEDED_SCOPES, type Subscriptions, USEFUL_SCOPES } from "@foldcast/feishu-channel";
import { feishuSettings, portOf } from "../feishu/channel.ts";
import { feishuFromFile } from "../feishu/from-file.ts";
import type { ConfigFile } from "../options/config-file.ts";
import { UsageError } from "../usage-error.ts";
import { fault, ok, warning } from "./check.ts";
import type { Check, Finding } from "./check.ts";

type Port = ReturnType<typeof createFeishuPort>;
type Bad = Exclude<Awaited<ReturnType<Port["botInfo"]>>, { kind: "ok" }>;

/** The setup's steps, by what is looked at here. */
const STEPS = { bot: "step 2", scopes: "step 3", events: "step 4", callbacks: "step 5", publish: "step 6" } as const;
const PUBLISH = `then publish a version (${STEPS.publish}); foldcast feishu setup shows the steps`;

/**
 * The app as Feishu sees it, and the settings around it. Opens no long connection: a channel that runs would lose events
 * to it. None where nothing of Feishu is set and `wanted` is false. No finding holds the secret.
 */
export function feishuChecks({ env, file, wanted }: { readonly env: NodeJS.ProcessEnv; readonly file: ConfigFile | null; readonly wanted: boolean }): Check[] {
  const source = feishuFromFile(file, env);
  if (!wanted && (source.env["FOLDCAST_FEISHU_APP_ID"] ?? "") === "" && source.given["appId"] === undefined) return [];
  let settings: FeishuSettings;
  let port: Port;
  try {
    settings = feishuSettings(source.env, source.given);
    port = portOf(settings);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ id: "feishu", run: () => fault(why, error instanceof UsageError ? "foldcast feishu setup says where each of them comes from" : null) }];
  }
  const bot = port.botInfo();
  // Without an app that is taken, the others would only say the same again.
  const afterwards = (id: string, look: () => Promise<Finding | null>) => ({ id, run: async () => ((await bot).kind === "ok" ? look() : null) });
  const checks: readonly { readonly id: string; readonly run: () => Promise<Finding | null> }[] = [
    { id: "feishu", run: async () => appFinding(await bot, settings) },
    afterwards("feishu:scopes", async () => scopesFinding(await port.grantedScopes())),
    afterwards("feishu:console", async () => consoleFinding(await port.subscriptions())),
    { id: "feishu:secret", run: () => secretFinding(source.env["FOLDCAST_FEISHU_APP_SECRET_FILE"]) },
    { id: "feishu:access", run: () => accessFinding(settings) },
  ];
  let open = checks.length;
  return checks.map(({ id, run }) => ({
    id,
    run: async () => {
      try {
        return await run();
      } finally {
        if ((open -= 1) === 0) await port.close();
      }
    },
  }));
}

function appFinding(bot: Awaited<ReturnType<Port["botInfo"]>>, { appId, baseUrl }: FeishuSettings): Finding {
  if (bot.kind === "ok") return ok(`${appId} answers; the bot is called ${bot.value.name}`);
  const where = baseUrl === undefined || baseUrl === "feishu" ? "open.feishu.cn" : baseUrl === "lark" ? "open.larksuite.com" : baseUrl;
  if (bot.kind === "uncertain" || bot.refusal.kind === "unreachable") return fault(`${where} cannot be reached: ${wordsOf(bot)}`, "look at the network, at proxy (HTTPS_PROXY, NO_PROXY), and at base_url (feishu, lark or an address)");
  if (bot.refusal.kind === "unauthorized") return fault(`${where} takes neither this app id nor this secret: ${wordsOf(bot)}`, "copy both again from the console (Credentials & Basic Info, 凭证与基础信息); an app of Lark needs base_url = \"lark\"");
  return fault(`${where} refuses the app: ${wordsOf(bot)}`, `is the ability Bot on (${STEPS.bot})? ${PUBLISH}`);
}

function scopesFinding(granted: Awaited<ReturnType<Port["grantedScopes"]>>): Finding | null {
  // A server that does not tell; the first message will.
  if (granted.kind !== "ok") return null;
  const needed = missingScopes(NEEDED_SCOPES, granted.value);
  if (needed.length > 0) return fault(`missing: ${needed.map(({ name, without }) => `${name} (${without})`).join(", ")}`, `add them in the console (${STEPS.scopes}), ${PUBLISH}`);
  const useful = missingScopes(USEFUL_SCOPES, granted.value);
  return ok(useful.length === 0 ? "all permissions are there" : `all that are needed; ${useful.map(({ name, without }) => `without ${name}: ${without}`).join("; ")}`);
}

function consoleFinding(told: Awaited<ReturnType<Port["subscriptions"]>>): Finding | null {
  if (told.kind !== "ok") return null;
  const { events, callbacks } = told.value;
  return (
    wayFinding("events", events, EVENTS, `(${STEPS.events})`, "the bot hears nothing") ??
    wayFinding("callbacks", callbacks, CALLBACKS, `(${STEPS.callbacks}, a tab of its own)`, "buttons do nothing") ??
    ok("events and callbacks come over the long connection")
  );
}

/** Null where all is well, or the server does not tell. */
function wayFinding(what: string, told: Subscriptions["events"], wanted: readonly string[], step: string, without: string): Finding | null {
  if (told === null) return null;
  if (told.by !== "websocket") return fault(`${what} are sent by ${told.by}, not over the long connection: ${without}`, `choose the long connection ${step}, ${PUBLISH}`);
  const missing = wanted.filter((name) => !told.names.includes(name));
  return missing.length === 0 ? null : fault(`${missing.join(", ")} is not among the ${what}: ${without}`, `add it ${step}, ${PUBLISH}`);
}

async function secretFinding(file: string | undefined): Promise<Finding | null> {
  if (file === undefined || process.platform === "win32") return null;
  const { mode } = await stat(file);
  return (mode & 0o077) === 0 ? ok(file) : warning(`the secret in ${file} can be read by others on this machine`, `chmod 600 ${file}`);
}

async function accessFinding({ allowUsers, allowChats, claim, cwd }: FeishuSettings): Promise<Finding> {
  const folder = await stat(cwd).catch(() => null);
  if (folder?.isDirectory() !== true) return fault(`agents would work in ${cwd}, and there is no such folder`, "correct cwd under [feishu] (FOLDCAST_FEISHU_CWD)");
  if (allowUsers.length === 0 && allowChats.length === 0 && !claim) return warning("nobody may talk to the bot", "name people in allow_users (FOLDCAST_FEISHU_ALLOW_USERS), or set claim = true: the bot is then of the first person who writes to it");
  const who = [...(allowUsers.length > 0 ? [`${allowUsers.length} ${allowUsers.length === 1 ? "person" : "people"}`] : []), ...(allowChats.length > 0 ? [`${allowChats.length} ${allowChats.length === 1 ? "chat" : "chats"}`] : [])];
  return ok(`${who.length === 0 ? "the first person who writes to it" : who.join(" and ")} may talk to the bot; agents work in ${cwd}`);
}

function wordsOf(outcome: Bad): string {
  return outcome.kind === "uncertain" ? outcome.uncertainty.detail : `${outcome.refusal.msg}${outcome.refusal.code === null ? "" : ` (${outcome.refusal.code})`}`;
}
