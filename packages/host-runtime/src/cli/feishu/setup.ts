import { createFeishuPort } from "@foldcast/feishu-channel";
import { feishuSettings } from "./channel.ts";

const STEPS = `1  Make an app of your own company's (自建应用) at https://open.feishu.cn/app (Lark: https://open.larksuite.com/app).
2  Add the ability "Bot" (添加应用能力 → 机器人).
3  Permissions (权限管理), all as the app itself:
     im:message  im:message:send_as_bot  im:message.p2p_msg:readonly  im:message.group_at_msg:readonly
     im:message:update  im:message:recall  im:resource  im:chat:readonly  cardkit:card:write
     contact:user.base:readonly (names on cards)
4  Events (事件与回调 → 事件配置): "long connection" (使用长连接接收事件), then add
     im.message.receive_v1  im.message.recalled_v1  im.chat.member.bot.added_v1
5  Callbacks, a tab of its own (回调配置): "long connection" too, then add
     card.action.trigger
   Without it buttons answer 200340.
6  Publish a version (版本管理与发布); nothing above counts before.
7  Tell foldcast:
     export FOLDCAST_FEISHU_APP_ID=cli_…
     export FOLDCAST_FEISHU_APP_SECRET_FILE=~/.config/foldcast/feishu-secret     # chmod 600
     export FOLDCAST_FEISHU_ALLOW_USERS=ou_…        # who may talk to it; or FOLDCAST_FEISHU_CLAIM=1: the first who writes
     export FOLDCAST_FEISHU_CWD=~/project           # where agents work
   then: foldcast feishu
`;

/** The steps in the console, and what of them can be checked from here. Gives the exit code. */
export async function setUp(env: NodeJS.ProcessEnv, given: Readonly<Record<string, unknown>>, out: (text: string) => void): Promise<number> {
  out(STEPS);
  if (env["FOLDCAST_FEISHU_APP_ID"] === undefined && given["appId"] === undefined) {
    out("FOLDCAST_FEISHU_APP_ID is not set yet, so nothing was checked. Run this again when it is.\n");
    return 0;
  }
  const settings = feishuSettings(env, given);
  const port = createFeishuPort({ appId: settings.appId, appSecret: settings.appSecret, ...(settings.baseUrl === undefined ? {} : { baseUrl: settings.baseUrl }) });
  try {
    const bot = await port.botInfo();
    if (bot.kind !== "ok") {
      const why = bot.kind === "refused" ? `${bot.refusal.msg} (${bot.refusal.code ?? bot.refusal.kind})` : bot.uncertainty.detail;
      out(`fault    the app: ${why}\n`);
      return 1;
    }
    out(`ok       the app answers: the bot is called ${bot.value.name}\n`);
    await port.start(() => undefined);
    for (let waited = 0; port.connection().state !== "connected" && waited < 10_000; waited += 100) await new Promise((resolve) => setTimeout(resolve, 100));
    const { state, reason } = port.connection();
    out(state === "connected" ? "ok       the long connection is open\n" : `fault    the long connection: ${reason ?? state} (step 4)\n`);
    if (settings.allowUsers.length === 0 && settings.allowChats.length === 0 && !settings.claim) out("warning  nobody may talk to the bot yet (step 7)\n");
    out("note     whether callbacks are on (step 5) shows with the first button: foldcast feishu smoke --app-env FILE\n");
    return state === "connected" ? 0 : 1;
  } finally {
    await port.close();
  }
}
