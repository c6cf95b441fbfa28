import { CALLBACKS, type createFeishuPort, EVENTS, NEEDED_SCOPES, USEFUL_SCOPES } from "@foldcast/feishu-channel";
import { overall, runChecks } from "../doctor/check.ts";
import type { Check, Finding } from "../doctor/check.ts";
import { fault, ok } from "../doctor/check.ts";
import { feishuChecks } from "../doctor/feishu.ts";
import { report } from "../doctor/report.ts";
import type { ConfigFile } from "../options/config-file.ts";
import { feishuSettings, portOf } from "./channel.ts";
import { feishuFromFile } from "./from-file.ts";

const names = (list: readonly string[]): string => list.map((name) => `     ${name}\n`).join("");

const STEPS = `1  Make an app of your own company's (自建应用) at https://open.feishu.cn/app (Lark: https://open.larksuite.com/app).
2  Add the ability "Bot" (添加应用能力 → 机器人).
3  Permissions (权限管理), all as the app itself (应用身份权限). Needed:
${names(NEEDED_SCOPES.map(({ name }) => name))}   im:message holds all of the first ones. Of use:
${USEFUL_SCOPES.map(({ name, without }) => `     ${name.padEnd(36)} without it: ${without}\n`).join("")}4  Events (事件与回调 → 事件配置): "long connection" (使用长连接接收事件), then add
${names(EVENTS)}5  Callbacks, a tab of its own (回调配置): "long connection" too, then add
${names(CALLBACKS)}   Without it buttons answer 200340. Where the console wants to see a connection before it saves 4 and 5, have foldcast
   feishu running already (step 7).
6  Publish a version (版本管理与发布); nothing above counts before.
7  Tell foldcast, in ~/.config/foldcast/config.toml:
     [feishu]
     app_id = "cli_…"
     app_secret_file = "~/.config/foldcast/feishu-secret"     # chmod 600
     claim = true                                             # the bot is of the first person who writes to it
     cwd = "~/project"                                        # where agents work
   or in the environment: FOLDCAST_FEISHU_APP_ID, FOLDCAST_FEISHU_APP_SECRET_FILE, …
   then: foldcast feishu, or foldcast serve --feishu

`;

const CONNECT_MS = 10_000;
/** Longer than any one check of its own takes. */
const CHECK_MS = 20_000;

export interface SetupCall {
  readonly env: NodeJS.ProcessEnv;
  readonly file: ConfigFile | null;
  readonly stdout: NodeJS.WritableStream;
}

/** The steps in the console, and what of them can be checked from here. Gives the exit code. */
export async function setUp({ env, file, stdout }: SetupCall): Promise<number> {
  stdout.write(STEPS);
  const checks = feishuChecks({ env, file, wanted: false });
  if (checks.length === 0) {
    stdout.write("No app is set yet, so nothing was checked. Run this again after step 7.\n");
    return 0;
  }
  const results = await runChecks([...checks, connectionCheck(env, file)], CHECK_MS);
  stdout.write(report(results));
  stdout.write("Whether buttons arrive shows with the first one, or with foldcast feishu smoke --app-env FILE.\n");
  return overall(results) === "fault" ? 1 : 0;
}

/** Opens the long connection for a moment. Null where the app cannot be used at all, which another check tells. */
function connectionCheck(env: NodeJS.ProcessEnv, file: ConfigFile | null): Check {
  return {
    id: "feishu:connection",
    async run(): Promise<Finding | null> {
      const source = feishuFromFile(file, env);
      let port: ReturnType<typeof createFeishuPort>;
      try {
        port = portOf(feishuSettings(source.env, source.given));
      } catch {
        return null;
      }
      try {
        if ((await port.botInfo()).kind !== "ok") return null;
        await port.start(() => undefined);
        for (let waited = 0; port.connection().state !== "connected" && waited < CONNECT_MS; waited += 100) await new Promise((resolve) => setTimeout(resolve, 100));
        const { state, reason } = port.connection();
        return state === "connected" ? ok("the long connection is open") : fault(`the long connection: ${reason ?? state}`, "look at step 4, and whether a proxy lets WebSockets through");
      } finally {
        await port.close();
      }
    },
  };
}
