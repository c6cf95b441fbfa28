import { describe, expect, it, test } from "vitest";
import { isInFolders, judge, limitsOf, type AccessRules, type Approach } from "./access.ts";
import { readTyped } from "./command.ts";
import { mentionsBot, readContent } from "./message.ts";

const BOT = "ou_bot";
const mention = (key: string, name: string, openId = `ou_${name}`) => ({ key, name, openId, userId: null, unionId: null });
const read = (messageType: string, content: unknown, mentions: ReturnType<typeof mention>[] = []) => readContent({ messageType, content: typeof content === "string" ? content : JSON.stringify(content), mentions }, BOT);

describe("a message", () => {
  it("has people's names in the place of keys, the longest key first, and not the bot's own", () => {
    const mentions = [mention("@_user_1", "bot", BOT), ...Array.from({ length: 9 }, (_, index) => mention(`@_user_${index + 2}`, `P${index + 2}`))];
    expect(read("text", { text: "@_user_1 ask @_user_10 and @_user_2" }, mentions).text).toBe("ask @P10 and @P2");
  });

  it("of rich text keeps its lines, links, code and pictures", () => {
    const post = { title: "Look", content: [[{ tag: "text", text: "see " }, { tag: "a", text: "this", href: "https://x.example" }], [{ tag: "img", image_key: "img_1" }], [{ tag: "code_block", language: "GO", text: "x := 1\n" }], [{ tag: "at", user_id: BOT }, { tag: "text", text: "ok" }]] };
    expect(read("post", post)).toEqual({ text: "Look\nsee this (https://x.example)\n\n\n```go\nx := 1\n```\n\nok", attachments: [{ kind: "image", key: "img_1", name: null }], unsupported: null });
    expect(read("post", { zh_cn: post }).text).toContain("see this");
  });

  it("of an image or a file is an attachment, of another kind unsupported, and a broken one no error", () => {
    expect(read("image", { image_key: "i" }).attachments).toEqual([{ kind: "image", key: "i", name: null }]);
    expect(read("file", { file_key: "f", file_name: "a.txt" }).attachments).toEqual([{ kind: "file", key: "f", name: "a.txt" }]);
    for (const [type, content] of [["sticker", {}], ["text", "{"], ["text", { text: 1 }], ["post", { content: "x" }], ["image", {}]] as const) expect(read(type, content).unsupported).toBe(type);
  });

  it("is meant for the bot by the bot's own id only", () => {
    expect(mentionsBot([mention("@_user_1", "x", BOT)], BOT)).toBe(true);
    expect(mentionsBot([mention("@_all", "everyone", "all")], BOT)).toBe(false);
  });
});

test.each([
  ["/stop", { kind: "command", name: "stop", argument: "" }],
  [" /Model  claude/sonnet ", { kind: "command", name: "model", argument: "claude/sonnet" }],
  ["/rename two\nlines", { kind: "command", name: "rename", argument: "two\nlines" }],
  ["//stop", { kind: "text", text: "/stop" }],
  ["/usr/bin is full", { kind: "text", text: "/usr/bin is full" }],
  ["/nonsense now", { kind: "unknownCommand", name: "nonsense" }],
  ["/_interaction i1 approve", { kind: "interaction", text: "/_interaction i1 approve" }],
  ["plain", { kind: "text", text: "plain" }],
])("%j is read as what it is", (typed, wanted) => {
  expect(readTyped(typed)).toEqual(wanted);
});

describe("who may talk to the bot", () => {
  const closed: AccessRules = { users: [], chats: [], claim: false, groups: "mention" };
  const direct: Approach = { openId: "ou_a", chatId: "oc_1", isDirect: true, mentionsBot: false, owner: null };
  const group: Approach = { ...direct, isDirect: false };
  const spoken: Approach = { ...group, mentionsBot: true };

  test.each([
    ["nobody, where nobody is named", closed, direct, "refused"],
    ["a named person, directly", { ...closed, users: ["ou_a"] }, direct, "allowed"],
    ["a named person in any group, with a mention", { ...closed, users: ["ou_a"] }, spoken, "allowed"],
    ["nobody without a mention", { ...closed, chats: ["oc_1"] }, group, "ignored"],
    ["members of a named group, without a mention where all counts", { ...closed, chats: ["oc_1"], groups: "all" }, group, "allowed"],
    ["no stranger of another group: silence without a mention", { ...closed, chats: ["oc_2"], groups: "all" }, group, "ignored"],
    ["no stranger of another group: an answer to a mention", { ...closed, chats: ["oc_2"] }, spoken, "refused"],
    ["the first who writes directly", { ...closed, claim: true }, direct, "claims"],
    ["not the first who writes in a group", { ...closed, claim: true }, spoken, "refused"],
    ["no second one", { ...closed, claim: true }, { ...direct, owner: "ou_b" }, "refused"],
    ["the owner", { ...closed, claim: true }, { ...direct, owner: "ou_a" }, "allowed"],
    ["nobody without an id", { ...closed, users: ["ou_a"] }, { ...direct, openId: null }, "ignored"],
  ] as const)("%s", (_name, rules, approach, wanted) => {
    expect(judge(rules, approach)).toBe(wanted);
  });

  test("folders are those named and what is below them", () => {
    expect(["/w", "/w/sub", "/work", "/"].map((path) => isInFolders(["/w"], path))).toEqual([true, true, false, false]);
    expect(isInFolders(["/"], "/anything")).toBe(true);
  });
});

test("a chat's own limits stand in place of the general ones, and what it has none of is the general one", () => {
  const general = { cwd: "/w", folders: ["/shared"], models: ["a"] };
  const limits = (own: { readonly cwd?: string; readonly folders?: readonly string[]; readonly models?: readonly string[] }): object => limitsOf({ ...general, chats: { oc: own } }, "oc");
  expect(limitsOf({ ...general, chats: { oc: {} } }, "constructor")).toEqual({ cwd: "/w", folders: ["/w", "/shared"], models: ["a"], isOwn: false });
  expect(limits({ models: ["b"] })).toEqual({ cwd: "/w", folders: ["/w", "/shared"], models: ["b"], isOwn: true });
  expect(limits({ cwd: "/x" })).toEqual({ cwd: "/x", folders: ["/x"], models: ["a"], isOwn: true });
  expect(limits({ folders: ["/x", "/y"] })).toEqual({ cwd: "/x", folders: ["/x", "/y"], models: ["a"], isOwn: true });
  expect(limits({ folders: ["/y", "/"] })).toEqual({ cwd: "/w", folders: ["/y", "/"], models: ["a"], isOwn: true });
});
