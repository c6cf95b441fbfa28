import { environmentFeishu, FeishuSettings } from "@foldcast/feishu-channel";
import { expect, test } from "vitest";
import { parseConfig } from "../options/config-file.ts";
import { ALL_SETTINGS } from "../table/options.ts";
import { feishuFromFile } from "./from-file.ts";

const config = (text: string): ReturnType<typeof parseConfig> => parseConfig(text, "/etc/fold.toml", ALL_SETTINGS, []);
const settings = (given: object): FeishuSettings => FeishuSettings.parse({ appId: "x", appSecret: "x", cwd: "/", ...given });

test("each chat may have a table of its own, whose paths are the file's", () => {
  const file = config('[feishu]\ncwd = "w"\n[feishu.chats.oc_1]\ncwd = "shop"\nfolders = ["/docs", "more"]\n[feishu.chats."oc-2"]\nmodels = ["one"]');
  const { given } = feishuFromFile(file, {});
  expect(given).toEqual({ cwd: "/etc/w", chats: { oc_1: { cwd: "/etc/shop", folders: ["/docs", "/etc/more"] }, "oc-2": { models: ["one"] } } });
  expect(settings(given).chats).toEqual(given["chats"]);
  for (const text of ["colour = 1", "folders = []", "models = \"one\"", "cwd = 1"]) expect(() => config(`[feishu.chats.oc_1]\n${text}`), text).toThrow("feishu.chats");
});

test("in the environment the chats are one JSON object, which goes before the file", () => {
  const chats = { oc_1: { models: ["one"] } };
  const env = { FOLDCAST_FEISHU_CHATS: JSON.stringify(chats) };
  expect(settings(environmentFeishu(env)).chats).toEqual(chats);
  expect(feishuFromFile(config('[feishu.chats.oc_2]\ncwd = "/x"'), env).given).toEqual({});
  expect(() => settings(environmentFeishu({ FOLDCAST_FEISHU_CHATS: "{oc_1" }))).toThrow(/chats/);
});
