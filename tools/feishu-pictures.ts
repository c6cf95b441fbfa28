import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createFeishuPort } from "@foldcast/feishu-channel";
import { startDemo } from "@foldcast/feishu-channel/fake";
import { scenes } from "./feishu-pictures/scenes.ts";

/*
 * Makes the pictures of docs/guide/feishu.md anew: cards of a few turns, sent to the stand-in for Feishu and shown by the
 * page of `foldcast feishu --demo`, in Debian's `chromium` (with fonts-noto-cjk and fonts-noto-color-emoji).
 *
 *   node --conditions=@foldcast/source --import tsx tools/feishu-pictures.ts [NAME…]
 */

const FOLDER = new URL("../docs/guide/feishu/", import.meta.url).pathname;
const WIDTH = 632;
const MOST_BYTES = 100_000;
const LANGUAGES = { en: "en-US", zh: "zh-CN" } as const;
const run = promisify(execFile);

async function chromium(profile: string, language: string, ...args: string[]): Promise<string> {
  const common = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1", `--lang=${language}`, `--user-data-dir=${profile}`, "--virtual-time-budget=3000"];
  const { stdout } = await run(process.env["CHROMIUM"] ?? "chromium", [...common, ...args], { timeout: 60_000, maxBuffer: 1 << 26, env: { ...process.env, LANGUAGE: language } });
  return stdout;
}

const wanted = process.argv.slice(2);
const demo = await startDemo();
const port = createFeishuPort({ appId: demo.appId, appSecret: demo.appSecret, baseUrl: demo.url });
const profile = mkdtempSync(join(tmpdir(), "feishu-pictures-"));
try {
  demo.fake.setRules({ rates: false });
  for (const locale of ["en", "zh"] as const) {
    mkdirSync(join(FOLDER, locale), { recursive: true });
    for (const { name, card, open } of scenes(locale)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const sent = await port.sendMessage({ to: { chatId: demo.directChatId }, body: { type: "card", card } });
      if (sent.kind !== "ok") throw new Error(`${name}: ${JSON.stringify(sent)}`);
      const url = `${demo.url}/?only=${sent.value.messageId}&open=${open}`;
      const page = await chromium(profile, LANGUAGES[locale], `--window-size=${WIDTH},400`, "--dump-dom", url);
      const height = /data-height="(\d+)"/.exec(page)?.[1];
      if (height === undefined) throw new Error(`${name}: the page did not come up`);
      const file = join(FOLDER, locale, `${name}.png`);
      await chromium(profile, LANGUAGES[locale], `--window-size=${WIDTH},${height}`, `--screenshot=${file}`, url);
      const { size } = statSync(file);
      process.stdout.write(`${locale}/${name}.png ${WIDTH}×${height} ${size} bytes\n`);
      if (size > MOST_BYTES) process.exitCode = 1;
    }
  }
  const advice = demo.fake.advice();
  if (advice.length > 0) throw new Error(`readers would see wrongly: ${JSON.stringify(advice)}`);
} finally {
  await port.close();
  await demo.close();
  rmSync(profile, { recursive: true, force: true });
}
