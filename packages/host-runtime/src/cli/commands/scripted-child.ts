import { runScriptedChild } from "@foldcast/adapter-registry/scenarios";

/** A scripted session in a process of its own. */
export async function run(): Promise<number> {
  await runScriptedChild(process.stdin, process.stdout);
  return 0;
}
