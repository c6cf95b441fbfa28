export { classifyArgv, classifyCommand } from "./classify.ts";
export { shlexJoin, shlexSplit } from "./shlex.ts";
export { unwrapShell } from "./wrapper.ts";
