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
  return new Presentation(detail, cwd);
}

class Presentation implements ToolPresentation {
  readonly #detail: ToolCallDetail;
  readonly #cwd: string;

  constructor(detail: ToolCallDetail, cwd: string) {
    this.#detail = detail;
    this.#cwd = cwd;
  }

  parts(locale: Locale): TitleParts {
    return titleParts(this.#detail, this.#cwd, locale);
  }

  title(locale: Locale): string {
    return joinTitle(this.parts(locale));
  }
}

/** One line from its parts. */
export function joinTitle({ icon, action, object, evidence }: TitleParts): string {
  let title = object === null ? `${icon} ${action}` : `${icon} ${action} ${object}`;
  for (const part of evidence) title += ` · ${part}`;
  return title;
}

function titleParts(detail: ToolCallDetail, cwd: string, locale: Locale): TitleParts {
  const { kind, state } = detail;
  const entry = ACTIONS[kind];
  const agent = detail.agentAction === null || kind === "wait" ? undefined : AGENT_ACTIONS[detail.agentAction];
  const parts = objectParts(detail, cwd, locale);
  const first = parts.length === 0 ? 0 : 1;
  addEvidence(parts, detail, locale);
  return {
    icon: state === "succeeded" ? entry.icon : STATE_ICONS[state],
    action: (agent ?? entry.words)[locale][state],
    object: first === 0 ? null : parts[0]!,
    evidence: withoutRepeats(parts, first),
  };
}

/** Nothing is told twice. */
function withoutRepeats(parts: readonly string[], first: number): string[] {
  const kept: string[] = [];
  for (let index = first; index < parts.length; index++) if (parts.indexOf(parts[index]!) === index) kept.push(parts[index]!);
  return kept;
}

/** Names listed one by one in a title at most. */
const MAX_NAMES = 3;

/** The object, then what narrows it. */
function objectParts(detail: ToolCallDetail, cwd: string, locale: Locale): string[] {
  const { facts, kind, children } = detail;
  if (children.length > 0) return childParts(detail, locale);
  switch (kind) {
    case "read_file": {
      const range = facts.lines === null ? [] : [PHRASES[locale].lineRange(facts.lines.first, facts.lines.last)];
      return [...pathParts(facts.paths, cwd, locale), ...range];
    }
    case "list_files": {
      const first = facts.paths[0];
      const shown = first === undefined ? [] : [facts.command === null || first === "." ? asDirectory(shortPath(cwd, first)) : shortPath(cwd, first)];
      const pattern = facts.pattern === null ? [] : [titleText(facts.pattern)];
      return shown.length + pattern.length === 0 ? ["./"] : [...shown, ...pattern];
    }
    case "search_files": {
      const query = facts.query === null ? [] : [quoted(facts.query)];
      const where = facts.paths[0] === undefined ? [] : [shortPath(cwd, facts.paths[0])];
      const isDirectory = detail.evidence.directory || where[0] === ".";
      return [...query, ...(isDirectory ? where.map(asDirectory) : where), ...(facts.pattern === null ? [] : [titleText(facts.pattern)])];
    }
    case "edit_file":
    case "write_file":
    case "apply_patch":
      return pathParts(facts.paths, cwd, locale);
    case "view_image":
      return facts.paths[0] === undefined ? [] : [shortPath(cwd, facts.paths[0])];
    case "run_command":
      return facts.command !== null ? [titleText(facts.command)] : facts.label !== null ? named(facts.label) : named(facts.tool);
    case "web_search":
      return facts.query === null ? named(facts.tool) : [quoted(facts.query)];
    case "web_fetch":
      return facts.url === null ? named(facts.tool) : [titleUrl(facts.url)];
    case "ask_user":
      return facts.label === null ? [] : [quoted(facts.label)];
    case "wait":
      return facts.command !== null ? [titleText(facts.command)] : named(facts.label);
    case "spawn_agent":
    case "update_plan":
      return named(facts.label);
    case "call_tool":
    case "unknown":
      return [...named(facts.tool), ...named(facts.label)];
  }
}

/** Calls inside a program: how many, and of which tools. */
function childParts({ children, facts, kind }: ToolCallDetail, locale: Locale): string[] {
  const names = new Set(children.map((child) => titleText(child.facts.tool ?? child.canonicalName ?? child.kind)));
  const head = kind === "call_tool" ? PHRASES[locale].tools(children.length) : (facts.label ?? PHRASES[locale].tools(children.length));
  return [head, ...shortList([...names])];
}

function pathParts(paths: readonly string[], cwd: string, locale: Locale): string[] {
  const shown = paths.map((path) => shortPath(cwd, path));
  return shown.length <= 1 ? shown : [PHRASES[locale].files(shown.length), ...shortList(shown)];
}

function shortPath(cwd: string, path: string): string {
  return titleText(displayPath(cwd, path));
}

function shortList(names: readonly string[]): string[] {
  return names.length <= MAX_NAMES ? [...names] : [...names.slice(0, MAX_NAMES), "…"];
}

function named(text: string | null): string[] {
  return text === null ? [] : [titleText(text)];
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

function addEvidence(parts: string[], { kind, state, evidence, reason, steps }: ToolCallDetail, locale: Locale): void {
  const phrases = PHRASES[locale];
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
}
