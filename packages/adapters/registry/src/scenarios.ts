/** The tools around scenario files, for the command line. */
export { CHILD_ARGUMENT, checkScenario, runScriptedChild, scenarioJsonSchema } from "@foldcast/adapter-scripted";
