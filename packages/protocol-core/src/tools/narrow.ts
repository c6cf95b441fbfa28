import { isJsonObject, type ToolContentItem } from "../wire/index.ts";
import type { ChildAction, ToolCallDetail } from "./detail.ts";
import { ACTIONS } from "./presentation/wording.ts";
import { type CallFacts, NO_FACTS } from "./reading.ts";
import type { ToolResultView, WebSource } from "./result-view.ts";
import { NO_EVIDENCE, type ToolEvidence } from "./results/evidence.ts";
import type { ToolKind } from "./tool-map.ts";

type Told = Readonly<Record<string, unknown>>;

/**
 * A detail with what came beside its item over the wire: members of the right form replace the bare ones, all others
 * are as if they were absent. `pending` is the view of the call alone: a told web card must be of its kind. The sources
 * of a search are the item's.
 */
export function withTold(bare: ToolCallDetail, pending: ToolResultView, told: Told): ToolCallDetail {
  const kind = told["kind"];
  const name = told["rawName"];
  const canonicalArguments = told["canonicalArguments"];
  const children = told["children"];
  return {
    ...bare,
    ...(typeof name === "string" ? { rawName: name, rawInput: told["rawInput"] ?? null } : {}),
    kind: isKind(kind) ? kind : bare.kind,
    canonicalName: textOr(told["canonicalName"], bare.canonicalName),
    canonicalArguments: isJsonObject(canonicalArguments) || canonicalArguments === null ? canonicalArguments : bare.canonicalArguments,
    parentId: textOr(told["parentId"], bare.parentId),
    agentAction: textOr(told["agentAction"], bare.agentAction),
    reason: textOr(told["reason"], bare.reason),
    steps: stepsOf(told["steps"]) ?? bare.steps,
    facts: factsOf(told["facts"]) ?? bare.facts,
    evidence: evidenceOf(told["evidence"]) ?? bare.evidence,
    view: viewOf(told["view"], bare.view, pending),
    program: programOf(told["program"]) ?? bare.program,
    children: Array.isArray(children) ? (children as unknown[]).flatMap((child) => childOf(child) ?? []) : bare.children,
  };
}

function isKind(value: unknown): value is ToolKind {
  return typeof value === "string" && Object.hasOwn(ACTIONS, value);
}

function textOr(value: unknown, fallback: string | null): string | null {
  return typeof value === "string" || value === null ? value : fallback;
}

function numberOr(value: unknown, fallback: number | null): number | null {
  return value === null || (typeof value === "number" && Number.isFinite(value)) ? value : fallback;
}

function stepsOf(value: unknown): ToolCallDetail["steps"] {
  if (!isJsonObject(value)) return null;
  const { done, total } = value;
  return typeof done === "number" && typeof total === "number" ? { done, total } : null;
}

function programOf(value: unknown): ToolCallDetail["program"] {
  if (!isJsonObject(value)) return null;
  const { language, text } = value;
  return typeof language === "string" && typeof text === "string" ? { language, text } : null;
}

function factsOf(value: unknown): CallFacts | null {
  if (!isJsonObject(value)) return null;
  const { paths, lines } = value;
  const first = isJsonObject(lines) ? lines["first"] : null;
  return {
    command: textOr(value["command"], null),
    paths: Array.isArray(paths) ? (paths as unknown[]).filter((path) => typeof path === "string") : NO_FACTS.paths,
    query: textOr(value["query"], null),
    pattern: textOr(value["pattern"], null),
    lines: isJsonObject(lines) && typeof first === "number" ? { first, last: numberOr(lines["last"], null) } : null,
    url: textOr(value["url"], null),
    tool: textOr(value["tool"], null),
    label: textOr(value["label"], null),
  };
}

function evidenceOf(value: unknown): ToolEvidence | null {
  if (!isJsonObject(value)) return null;
  return {
    lines: numberOr(value["lines"], null),
    hits: numberOr(value["hits"], null),
    files: numberOr(value["files"], null),
    sources: numberOr(value["sources"], null),
    directory: value["directory"] === true,
    exitCode: numberOr(value["exitCode"], NO_EVIDENCE.exitCode),
    durationMs: numberOr(value["durationMs"], null),
    truncated: value["truncated"] === true,
  };
}

function childOf(value: unknown): ChildAction | null {
  if (!isJsonObject(value) || !isKind(value["kind"])) return null;
  const canonicalArguments = value["canonicalArguments"];
  return {
    kind: value["kind"],
    canonicalName: textOr(value["canonicalName"], null),
    canonicalArguments: isJsonObject(canonicalArguments) ? canonicalArguments : null,
    facts: factsOf(value["facts"]) ?? NO_FACTS,
  };
}

function viewOf(told: unknown, bare: ToolResultView, pending: ToolResultView): ToolResultView {
  if (!isJsonObject(told)) return bare;
  const content = contentOf(told["content"]);
  if (told["card"] === "generic") return { card: "generic", ...content };
  if (told["card"] !== "web" || pending.card !== "web" || told["kind"] !== pending.kind) return bare;
  const truncated = told["truncated"] === true;
  if (pending.kind === "fetch") {
    const url = typeof told["url"] === "string" ? told["url"] : pending.url;
    return { ...pending, url, statusCode: numberOr(told["statusCode"], null), truncated };
  }
  const answer = typeof told["answer"] === "string" ? { answer: told["answer"] } : {};
  const sources: readonly WebSource[] = bare.card === "web" && bare.kind === "search" ? bare.sources : [];
  return { ...pending, sources, ...answer, truncated, ...content };
}

function contentOf(value: unknown): { content?: readonly ToolContentItem[] } {
  if (!Array.isArray(value)) return {};
  const content = (value as unknown[]).flatMap((part): ToolContentItem[] =>
    isJsonObject(part) && part["type"] === "inputText" && typeof part["text"] === "string" ? [{ type: "inputText", text: part["text"] }] : [],
  );
  return content.length === 0 ? {} : { content };
}
