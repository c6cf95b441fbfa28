import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { acpKinds } from "@foldcast/adapter-registry/tool-maps";
import {
  detailOf, interpretCall, interpretResult, itemDetail, NO_RESULT, presentTool, ruleOf, type ToolCallDetail, type ToolMap,
} from "@foldcast/protocol-core/tools";
import { toolMapOf } from "../corpus/tool-maps.ts";
import { type LiftedCall, type LiftedEnd, liftFrom } from "./shapes.ts";

export interface PresentedCall {
  harness: string;
  call: LiftedCall;
  answer: string | null;
  isKnown: boolean;
  detail: ToolCallDetail;
  titles: readonly [string, string];
}

/** One line of the table: what became of a harness's calls. */
export interface HarnessRow {
  harness: string;
  calls: number;
  mcp: number;
  /** Without the refused ones. */
  unknown: number;
  /** Calls of tools that the harness does not have, as its answer says; they are unknown to anyone. */
  refused: number;
  /** Share of calls that are not MCP and stay unknown, in percent. */
  unknownPercent: number;
  rawTitles: number;
  braceTitles: number;
  knownButUnknown: number;
  kinds: Readonly<Record<string, number>>;
  unknownNames: readonly string[];
}

/** Folders under the data folder that hold recordings; in two of them a subfolder names the harness. */
const SOURCES = ["sessions", "claude", "kimi", "codex", "harnesses"] as const;
const CWD = "/workspace";

/** Lifts all calls of the recordings under `data` and presents each once, in both languages. */
export function presentRecordings(data: string): PresentedCall[] {
  const calls = new Map<string, { harness: string; call: LiftedCall }>();
  const ends = new Map<string, LiftedEnd>();
  for (const source of SOURCES) {
    for (const file of jsonlFiles(join(data, source))) {
      const parts = relative(data, file).split(sep);
      const harness = source === "sessions" || source === "harnesses" ? parts[1]! : source;
      collect(file, harness, calls, ends);
    }
  }
  const presented = new Map<string, PresentedCall>();
  for (const [key, { harness, call }] of calls) {
    // The stream and the saved file of one session hold the same call: it counts once.
    const same = `${harness} ${call.id?.replace(/^\d+:/, "")} ${call.name} ${JSON.stringify(call.input)}`;
    const known = presented.get(same);
    if (known === undefined || known.detail.state === "running") presented.set(same, presentLifted(harness, call, ends.get(key) ?? null));
  }
  return [...presented.values()];
}

function collect(file: string, harness: string, calls: Map<string, { harness: string; call: LiftedCall }>, ends: Map<string, LiftedEnd>): void {
  for (const line of readFileSync(file, "utf8").split("\n")) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      continue;
    }
    for (const found of liftFrom(value)) {
      if ("end" in found) {
        ends.set(`${file} ${found.end.id}`, found.end);
        continue;
      }
      const { call } = found;
      const key = `${file} ${call.id ?? `${call.name} ${JSON.stringify(call.input)}`}`;
      const known = calls.get(key)?.call;
      calls.set(key, { harness, call: known === undefined ? call : merged(known, call) });
    }
  }
}

/** A stream repeats a call while its input grows, and an update may know the input but not the tool. */
function merged(known: LiftedCall, call: LiftedCall): LiftedCall {
  const named = known.isAcpKind === true && call.isAcpKind !== true ? call : known;
  return sizeOf(call.input) > sizeOf(known.input) ? { ...named, input: call.input } : { ...named, input: known.input };
}

function sizeOf(input: unknown): number {
  return input === undefined ? 0 : JSON.stringify(input).length;
}

function presentLifted(harness: string, call: LiftedCall, end: LiftedEnd | null): PresentedCall {
  const map: ToolMap = call.isAcpKind === true ? acpKinds : (toolMapOf(harness) ?? {});
  const rule = ruleOf(map, call.name);
  const reading = interpretCall({ name: call.name, input: call.input, rule, cwd: CWD });
  const outcome = end === null ? null : end.failed ? ({ status: "failed" } as const) : ({ status: "succeeded" } as const);
  const result = end === null || outcome === null ? null : interpretResult(reading, { ...NO_RESULT, output: end.output, structured: end.structured, outcome });
  const detail = detailOf({ callId: call.id ?? "", rawName: call.name, rawInput: call.input }, reading, outcome, result);
  JSON.stringify(itemDetail(detail));
  const presentation = presentTool(detail, CWD);
  return { harness, call, answer: end?.output ?? null, isKnown: rule !== undefined, detail, titles: [presentation.title("zh"), presentation.title("en")] };
}

function* jsonlFiles(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* jsonlFiles(path);
    else if (entry.name.endsWith(".jsonl") && entry.name !== "index.jsonl") yield path;
  }
}

const REFUSAL = /no such tool|tool "?\w+"? (?:is )?not found|unknown tool/i;

/** The table: one row a harness, sorted by name. */
export function tabulate(presented: readonly PresentedCall[]): HarnessRow[] {
  const harnesses = [...new Set(presented.map(({ harness }) => harness))].sort();
  return harnesses.map((harness) => {
    const own = presented.filter((entry) => entry.harness === harness);
    const mcp = own.filter(({ call }) => call.name.startsWith("mcp__")).length;
    const refused = own.filter(({ detail, answer }) => detail.kind === "unknown" && answer !== null && REFUSAL.test(answer));
    const unknown = own.filter((entry) => entry.detail.kind === "unknown" && !refused.includes(entry));
    const kinds: Record<string, number> = {};
    for (const { detail } of own) kinds[detail.kind] = (kinds[detail.kind] ?? 0) + 1;
    return {
      harness,
      calls: own.length,
      mcp,
      refused: refused.length,
      unknown: unknown.length,
      unknownPercent: own.length === mcp ? 0 : Math.round((unknown.length / (own.length - mcp)) * 1000) / 10,
      rawTitles: own.filter(({ call, titles, isKnown }) => isKnown && titles.includes(call.name)).length,
      braceTitles: own.filter(({ titles }) => titles.some((title) => title.includes("{"))).length,
      knownButUnknown: unknown.filter(({ isKnown }) => isKnown).length,
      kinds,
      unknownNames: [...new Set(unknown.map(({ call }) => call.name))],
    };
  });
}
