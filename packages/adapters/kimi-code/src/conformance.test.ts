import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeAdapter, type ScenarioHooks } from "@foldcast/adapter-kit/conformance";
import { fakeKimi, options, prompt, testAdapter } from "./testing/harness.ts";

const bin = await fakeKimi();
const workspace = mkdtempSync(join(tmpdir(), "kimi-conformance-"));
process.once("exit", () => rmSync(workspace, { recursive: true, force: true }));

const words = { plain: "say hello", tools: "use tools", long: "go on long", approval: "approve it", question: "ask me", crash: "crash now" };
const hooks: ScenarioHooks = {
  scenario: (kind) => ({ options: options(workspace), input: prompt(words[kind], kind === "plain" ? "client-1" : null) }),
  historyEquality: "summary",
};

describeAdapter("Kimi Code, a fake program", () => Promise.resolve(testAdapter(bin)), hooks);
