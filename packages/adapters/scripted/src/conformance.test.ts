import { describeAdapter, type ScenarioHooks } from "@foldcast/adapter-kit/conformance";
import { bundledChild, makeHarness, options, prompt } from "./testing.ts";

const hooks: ScenarioHooks = {
  scenario(kind) {
    switch (kind) {
      case "plain":
        return { options: options("plain"), input: prompt("hello", "client-1") };
      case "tools":
        return { options: options("demo"), input: prompt("fix it") };
      case "long":
        return { options: options("slow"), input: prompt("count") };
      case "approval":
        return { options: options("one-approval"), input: prompt("clean") };
      case "question":
        return { options: options("approval"), input: prompt("a question") };
      case "crash":
        return { options: options("failure"), input: prompt("crash") };
    }
  },
  historyEquality: "events",
};

const oneApproval = {
  schema: 1 as const,
  name: "one-approval",
  turns: [{
    steps: [
      { tool: { id: "clean", name: "shell", input: { command: "rm -rf build" } } },
      { approve: { id: "clean", kind: "command" as const } },
      { result: { id: "clean", output: "" } },
      { message: "Done." },
    ],
  }],
};

describeAdapter("scripted, in this process", () => makeHarness([oneApproval], { speed: 10 }), hooks);

const childCommand = await bundledChild();
describeAdapter("scripted, in a child process", () => makeHarness([oneApproval], { speed: 10, process: true, childCommand }), hooks);
