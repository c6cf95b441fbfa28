import { CHILD_ARGUMENT, runScriptedChild } from "@foldcast/adapter-registry/scenarios";
import type { CommandSpec } from "../command.ts";

/** Not for people: a scripted session in a process of its own. */
export const command: CommandSpec = {
  name: CHILD_ARGUMENT,
  summary: "",
  help: "",
  async run() {
    await runScriptedChild(process.stdin, process.stdout);
    return 0;
  },
};
