import type { ToolKind } from "../tool-map.ts";

export type Locale = "zh" | "en";

/** Where a call stands. `running` covers every call without an end. */
export type ToolState = "running" | "succeeded" | "failed" | "cancelled" | "declined";

type Words = Readonly<Record<Locale, Readonly<Record<ToolState, string>>>>;

/** Chinese verbs do not inflect; English has a form for what goes on, one for what is done, one for what was tried. */
function words(zh: string, running: string, done: string, tried: string): Words {
  return {
    zh: { running: zh, succeeded: zh, failed: zh, cancelled: zh, declined: zh },
    en: { running, succeeded: done, failed: tried, cancelled: tried, declined: tried },
  };
}

/** The only source of action words and icons: kind × state × locale. */
export const ACTIONS: Readonly<Record<ToolKind, { readonly icon: string; readonly words: Words }>> = {
  run_command: { icon: "💻", words: words("运行", "Running", "Ran", "Run") },
  read_file: { icon: "📖", words: words("读取", "Reading", "Read", "Read") },
  list_files: { icon: "📂", words: words("浏览", "Listing", "Listed", "List") },
  search_files: { icon: "🔎", words: words("搜索", "Searching", "Searched", "Search") },
  edit_file: { icon: "🛠️", words: words("修改", "Changing", "Changed", "Change") },
  write_file: { icon: "📝", words: words("写入", "Writing", "Wrote", "Write") },
  apply_patch: { icon: "🛠️", words: words("修改", "Changing", "Changed", "Change") },
  web_search: { icon: "🌐", words: words("搜索网页", "Searching the web for", "Searched the web for", "Search the web for") },
  web_fetch: { icon: "🌐", words: words("打开网页", "Opening", "Opened", "Open") },
  wait: { icon: "⏳", words: words("等待", "Waiting for", "Waited for", "Wait for") },
  call_tool: { icon: "🔧", words: words("调用", "Calling", "Called", "Call") },
  spawn_agent: { icon: "🤖", words: words("委派", "Delegating", "Delegated", "Delegate") },
  update_plan: { icon: "📋", words: words("更新计划", "Updating the plan", "Updated the plan", "Update the plan") },
  ask_user: { icon: "❓", words: words("询问", "Asking", "Asked", "Ask") },
  view_image: { icon: "🖼️", words: words("查看图片", "Viewing", "Viewed", "View") },
  unknown: { icon: "🔧", words: words("调用", "Calling", "Called", "Call") },
};

/** What an agent call does when it does not start an agent. */
export const AGENT_ACTIONS: Readonly<Record<string, Words>> = {
  sendInput: words("发消息给代理", "Messaging the agent", "Messaged the agent", "Message the agent"),
  sendMessage: words("发消息给代理", "Messaging the agent", "Messaged the agent", "Message the agent"),
  followupTask: words("追加任务给代理", "Giving the agent another task", "Gave the agent another task", "Give the agent another task"),
  resumeAgent: words("恢复代理", "Resuming the agent", "Resumed the agent", "Resume the agent"),
  closeAgent: words("结束代理", "Closing the agent", "Closed the agent", "Close the agent"),
  interruptAgent: words("中断代理", "Interrupting the agent", "Interrupted the agent", "Interrupt the agent"),
  listAgents: words("列出代理", "Listing agents", "Listed agents", "List agents"),
};

/** A finished call shows its action's icon: success has no sign of its own. */
export const STATE_ICONS: Readonly<Record<Exclude<ToolState, "succeeded">, string>> = {
  running: "⏳",
  failed: "❌",
  cancelled: "⏹️",
  declined: "🚫",
};

interface Phrases {
  lines(count: number): string;
  lineRange(first: number, last: number | null): string;
  hits(count: number): string;
  files(count: number): string;
  sources(count: number): string;
  tools(count: number): string;
  steps(done: number, total: number): string;
  truncated: string;
}

/** Everything else that a title says in words. */
export const PHRASES: Readonly<Record<Locale, Phrases>> = {
  zh: {
    lines: (count) => `${count} 行`,
    lineRange: (first, last) => (last === null ? `第 ${first} 行起` : first === last ? `第 ${first} 行` : `第 ${first}–${last} 行`),
    hits: (count) => `${count} 处`,
    files: (count) => `${count} 个文件`,
    sources: (count) => `${count} 个来源`,
    tools: (count) => `${count} 个工具`,
    steps: (done, total) => `${done}/${total}`,
    truncated: "已截断",
  },
  en: {
    lines: (count) => plural(count, "line"),
    lineRange: (first, last) => (last === null ? `from line ${first}` : first === last ? `line ${first}` : `lines ${first}–${last}`),
    hits: (count) => plural(count, "hit"),
    files: (count) => plural(count, "file"),
    sources: (count) => plural(count, "source"),
    tools: (count) => plural(count, "tool"),
    steps: (done, total) => `${done}/${total}`,
    truncated: "truncated",
  },
};

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
