import { test } from "vitest";
import { startServer } from "../support/server.ts";
import { Tui } from "../support/tui.ts";
import { PlainClient } from "../support/plain-client.ts";
import { sleep } from "../support/wait.ts";

const schema = { type: "object", properties: { title: { type: "string", title: "Title", description: "A few words" }, severity: { type: "string", title: "Severity", oneOf: [{ const: "low", title: "Can wait" }, { const: "high", title: "Urgent" }] }, notify: { type: "boolean", title: "Tell the team" }, copies: { type: "integer", title: "Copies" } }, required: ["title"] };
const SC: Record<string, object[]> = {
  perm: [{ approve: { kind: "permissions", offers: ["accept", "decline"], reason: "Because.", permissions: { network: true, write: ["/var/x"] } } }, { message: "after" }],
  permempty: [{ approve: { kind: "permissions", offers: ["accept", "decline"], reason: "Because." } }, { message: "after" }],
  form: [{ elicit: { server: "issues", message: "Fill it in.", schema } }, { message: "after" }],
  single: [{ elicit: { server: "issues", message: "Fill it in.", schema: { type: "object", properties: { title: { type: "string", title: "Title" } }, required: ["title"] } } }, { message: "after" }],
  bool: [{ elicit: { server: "issues", message: "Confirm.", schema: { type: "object", properties: { ok: { type: "boolean", title: "OK?" }, n: { type: "integer", title: "N" } }, required: ["ok"] } } }, { message: "after" }],
  empty: [{ elicit: { server: "issues", message: "Just confirm.", schema: { type: "object", properties: {} } } }, { message: "after" }],
  url: [{ elicit: { server: "issues", message: "Sign in.", url: "https://issues.example/x" } }, { message: "after" }],
  edit: [{ edit: { id: "e", path: "first.txt", before: null, after: "one\n" } }, { approve: { id: "e", kind: "fileChange", offers: ["accept", "decline"] } }, { message: "after" }],
  tool: [{ approve: { kind: "tool", title: "Fetch a page", offers: ["accept", "decline"] } }, { message: "after" }],
};
const scenarios = Object.fromEntries(Object.entries(SC).map(([name, steps]) => [name, { schema: 1, name, turns: [{ steps }] }]));
const KEYS: Record<string, string[]> = JSON.parse(process.env["KEYS"] ?? "{}");

test("explore", async () => {
  await using server = await startServer({ scenarios, speed: 1, args: ["--harness", "scripted", "--log-level", "debug"] });
  for (const name of (process.env["ONLY"] ?? Object.keys(SC).join(",")).split(",")) {
    await using tui = await Tui.start(server.url, `x-${name}`, { args: ["-m", `scripted/${name}`] });
    await tui.ready();
    await using plain = await PlainClient.connect(server.url, { foldcast: { interaction: true } });
    await tui.submit("go on then").catch(() => undefined);
    await sleep(2500);
    const { data } = await plain.wire.request<{ data: { id: string }[] }>("thread/list", {});
    await plain.join(data[0]!.id).catch(() => undefined);
    console.log(`===== ${name}\n${(await tui.screen()).trimEnd()}`);
    for (const keys of KEYS[name] ?? []) {
      if (keys.startsWith("=")) await tui.type(keys.slice(1)); else await tui.press(keys);
      await sleep(700);
      console.log(`----- after ${keys}\n${(await tui.screen()).trimEnd()}`);
    }
    console.log(JSON.stringify(plain.wire.notifications.filter(({ method }) => method.startsWith("foldcast/"))));
  }
}, 170_000);
