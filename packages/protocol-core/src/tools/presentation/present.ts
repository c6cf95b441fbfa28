import type { ToolCallDetail } from "../detail.ts";
import { displayPath } from "../paths.ts";
import { titleDuration, titleText, titleUrl } from "./text.ts";
import { ACTIONS, AGENT_ACTIONS, type Locale, PHRASES, STATE_ICONS } from "./wording.ts";

/** The parts of a title; a renderer joins them, or lays them out by itself. */
export interface TitleParts {
  icon: string;
  action: string;
  /** What the action is about; null when the call does not say. */
  object: string | null;
  /** Facts that the object does not tell, most telling first. */
  evidence: readonly string[];
}

export interface ToolPresentation {
  parts(locale: Locale): TitleParts;
  /** One line: icon, action and object, then the evidence between ` · `. */
  title(locale: Locale): string;
}

/** How a call is told to a reader. Paths inside `cwd` are shown relative to it. Never throws. */
export function presentTool(detail: ToolCallDetail, cwd: string): ToolPresentation {
  const parts = (locale: Locale): TitleParts => titleParts(detail, cwd, locale);
  return { parts, title: (locale) => joinTitle(parts(locale)) };
}

/** One line from its parts. */
export function joinTitle({ icon, action, object, evidence }: TitleParts): string {
  const head = object === null ? `${icon} ${action}` : `${icon} ${action} ${object}`;
  return evidence.length === 0 ? head : `${head} · ${evidence.join(" · ")}`;
}

function titleParts(detail: ToolCallDetail, cwd: string, locale: Locale): TitleParts {
  const { kind, state } = detail;
  const entry = ACTIONS[kind];
  const words = (detail.agentAction === null ? undefined : kind === "wait" ? undefined : AGENT_ACTIONS[detail.agentAction]) ?? entry.words;
  const object = objectParts(detail, cwd, locale);
  const evidence = [...object.slice(1), ...evidenceParts(detail, locale)];
  return {
    icon: state === "succeeded" ? entry.icon : STATE_ICONS[state],
    action: words[locale][state],
    object: object[0] ?? null,
    evidence: evidence.filter((part, index) => part !== object[0] && evidence.indexOf(part) === index),
  };
}

/** Names listed one by one in a title at most. */
const MAX_NAMES = 3;

/** The object, then what narrows it. */
function objectParts(detail: ToolCallDetail, cwd: string, locale: Locale): string[] {
  const { facts, kind, children } = detail;
  if (children.length > 0) return childParts(detail, locale);
  const path = (raw: string): string => titleText(displayPath(cwd, raw));
  const label = facts.label === null ? [] : [titleText(facts.label)];
  switch (kind) {
    case "read_file": {
      const range = facts.lines === null ? [] : [PHRASES[locale].lineRange(facts.lines.first, facts.lines.last)];
      return [...pathParts(facts.paths.map(path), locale), ...range];
    }
    case "list_files": {
      const first = facts.paths[0];
      const shown = first === undefined ? [] : [facts.command === null || first === "." ? asDirectory(path(first)) : path(first)];
      const pattern = facts.pattern === null ? [] : [titleText(facts.pattern)];
      return shown.length + pattern.length === 0 ? ["./"] : [...shown, ...pattern];
    }
    case "search_files": {
      const query = facts.query === null ? [] : [quoted(facts.query)];
      const where = facts.paths[0] === undefined ? [] : [path(facts.paths[0])];
      const isDirectory = detail.evidence.directory || where[0] === ".";
      return [...query, ...(isDirectory ? where.map(asDirectory) : where), ...(facts.pattern === null ? [] : [titleText(facts.pattern)])];
    }
    case "edit_file":
    case "write_file":
    case "apply_patch":
      return pathParts(facts.paths.map(path), locale);
    case "view_image":
      return facts.paths[0] === undefined ? [] : [path(facts.paths[0])];
    case "run_command":
      return facts.command !== null ? [titleText(facts.command)] : label.length > 0 ? label : named(facts.tool);
    case "web_search":
      return facts.query === null ? named(facts.tool) : [quoted(facts.query)];
    case "web_fetch":
      return facts.url === null ? named(facts.tool) : [titleUrl(facts.url)];
    case "ask_user":
      return facts.label === null ? [] : [quoted(facts.label)];
    case "wait":
      return facts.command !== null ? [titleText(facts.command)] : label;
    case "spawn_agent":
    case "update_plan":
      return label;
    case "call_tool":
    case "unknown":
      return [...named(facts.tool), ...label];
  }
}

/** Calls inside a program: how many, and of which tools. */
function childParts({ children, facts, kind }: ToolCallDetail, locale: Locale): string[] {
  const names = new Set(children.map((child) => titleText(child.facts.tool ?? child.canonicalName ?? child.kind)));
  const head = kind === "call_tool" ? PHRASES[locale].tools(children.length) : (facts.label ?? PHRASES[locale].tools(children.length));
  return [head, ...shortList([...names])];
}

function pathParts(paths: readonly string[], locale: Locale): string[] {
  return paths.length <= 1 ? [...paths] : [PHRASES[locale].files(paths.length), ...shortList(paths)];
}

function shortList(names: readonly string[]): string[] {
  return names.length <= MAX_NAMES ? [...names] : [...names.slice(0, MAX_NAMES), "…"];
}

function named(tool: string | null): string[] {
  return tool === null ? [] : [titleText(tool)];
}

function quoted(text: string): string {
  return `“${titleText(text)}”`;
}

function asDirectory(path: string): string {
  if (path === ".") return "./";
  return path.endsWith("/") || path.endsWith("…") ? path : `${path}/`;
}

/** Looking at files is quick; how long it took is worth telling for the rest only. */
const UNTIMED: ReadonlySet<string> = new Set(["read_file", "list_files", "search_files", "view_image", "update_plan", "ask_user"]);

function evidenceParts({ kind, state, evidence, reason, steps }: ToolCallDetail, locale: Locale): string[] {
  const phrases = PHRASES[locale];
  const parts: string[] = [];
  if (steps !== null && steps.total > 0) parts.push(phrases.steps(steps.done, steps.total));
  if (evidence.lines !== null) parts.push(phrases.lines(evidence.lines));
  if (evidence.hits !== null) parts.push(phrases.hits(evidence.hits));
  if (evidence.files !== null) parts.push(phrases.files(evidence.files));
  if (evidence.sources !== null) parts.push(phrases.sources(evidence.sources));
  if (evidence.truncated) parts.push(phrases.truncated);
  if (state === "failed") {
    if (evidence.exitCode !== null && evidence.exitCode !== 0) parts.push(`exit ${evidence.exitCode}`);
    else if (reason !== null) parts.push(titleText(reason, 80));
  }
  const duration = evidence.durationMs === null || UNTIMED.has(kind) ? null : titleDuration(evidence.durationMs);
  if (duration !== null) parts.push(duration);
  return parts;
}
