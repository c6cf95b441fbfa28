import type { Turn } from "@foldcast/protocol-core/wire";
import type { NativeTurn } from "./codex-threads.ts";

/** Where two tellings of a thread differ: the kind of the difference, and where it is. */
export interface Difference {
  kind: string;
  at: string;
}

type Item = Record<string, unknown> & { type: string };

/** Members of an item that both have to tell alike. Ids of items are each one's own. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  userMessage: ["content", "clientId"],
  agentMessage: ["text", "phase"],
  reasoning: ["summary"],
  commandExecution: ["command", "cwd", "processId", "source", "status", "commandActions", "aggregatedOutput", "exitCode", "durationMs"],
  fileChange: ["changes", "status"],
  mcpToolCall: ["server", "tool", "arguments", "status", "result", "error", "durationMs"],
  dynamicToolCall: ["namespace", "tool", "arguments", "status", "contentItems", "success"],
  collabAgentToolCall: ["tool", "status", "senderThreadId", "receiverThreadIds", "prompt", "model", "reasoningEffort", "agentsStates"],
  webSearch: ["query", "action", "results"],
  imageView: ["path"],
  plan: ["text"],
};
/** What says which of several items of a type it is. */
const NAMES: Readonly<Record<string, (item: Item) => unknown>> = {
  userMessage: (item) => item["content"],
  agentMessage: (item) => item["text"],
  reasoning: (item) => textOf(item["summary"]),
  commandExecution: (item) => item["command"],
  fileChange: (item) => (item["changes"] as { path: string }[]).map(({ path }) => path),
  plan: (item) => item["text"],
  webSearch: (item) => item["query"],
  collabAgentToolCall: (item) => item["tool"],
  dynamicToolCall: (item) => item["tool"],
};

/** All differences between what the program tells of a thread and what foldcast tells. */
export function differences(native: readonly NativeTurn[], ours: readonly Turn[]): Difference[] {
  const found: Difference[] = [];
  const left = [...ours];
  let order = -1;
  for (const turn of native) {
    const at = left.findIndex(({ id }) => id === turn.id);
    if (at === -1) {
      const isAgain = ours.some(({ id }) => id === turn.id);
      found.push({ kind: isAgain ? "turn told a second time" : "turn only there", at: turn.id });
      continue;
    }
    const [own] = left.splice(at, 1);
    const place = ours.indexOf(own!);
    if (place < order) found.push({ kind: "turn in another order", at: turn.id });
    order = Math.max(order, place);
    found.push(...turnDifferences(turn, own!));
  }
  return [...found, ...left.map(({ id }) => ({ kind: "turn only here", at: id }))];
}

function turnDifferences(native: NativeTurn, ours: Turn): Difference[] {
  const found: Difference[] = [];
  for (const member of ["status", "startedAt", "completedAt", "durationMs"] as const) {
    if (native[member] !== ours[member]) found.push({ kind: `turn.${member}`, at: `${native.id}: ${JSON.stringify([native[member], ours[member]])}` });
  }
  if (native.error?.message !== ours.error?.message || !same(native.error?.codexErrorInfo, ours.error?.codexErrorInfo)) found.push({ kind: "turn.error", at: `${native.id}: ${JSON.stringify([native.error, ours.error])}` });
  const [theirs, own] = [native.items.map(asItem), inOrderOfEnds(ours.items.map(asItem))];
  const [theirKeys, ownKeys] = [theirs.map(keyOf), own.map(keyOf)];
  const kept = common(theirKeys, ownKeys);
  for (const [a, b] of kept) found.push(...itemDifferences(theirs[a]!, own[b]!, native.id));
  const lost = theirKeys.map((_, at) => at).filter((at) => !kept.some(([a]) => a === at));
  const extra = ownKeys.map((_, at) => at).filter((at) => !kept.some(([, b]) => b === at));
  for (const at of lost) {
    const moved = extra.findIndex((other) => ownKeys[other] === theirKeys[at]);
    const what = `${native.id}: ${theirKeys[at]!.slice(0, 160)}`;
    if (moved === -1) found.push({ kind: `${theirs[at]!.type} only there${isEmpty(theirs[at]!) ? ", and empty" : ""}`, at: what });
    else {
      found.push({ kind: `${theirs[at]!.type} in another place`, at: what }, ...itemDifferences(theirs[at]!, own[extra[moved]!]!, native.id));
      extra.splice(moved, 1);
    }
  }
  return [...found, ...extra.map((at) => ({ kind: `${own[at]!.type} only here`, at: `${native.id}: ${ownKeys[at]!.slice(0, 160)}` }))];
}

function itemDifferences(native: Item, ours: Item, turn: string): Difference[] {
  return (MEMBERS[native.type] ?? []).flatMap((member) => {
    const [theirs, own] = [native[member] ?? null, ours[member] ?? null];
    if (member === "summary" ? textOf(theirs) === textOf(own) : same(theirs, own)) return [];
    const isInferred = member === "phase" && theirs === null;
    return [{ kind: `${native.type}.${member}${isInferred ? " that nobody said" : ""}`, at: `${turn}: ${JSON.stringify([theirs, own]).slice(0, 300)}` }];
  });
}

/**
 * Of commands that ran side by side Codex tells first what ended first, which is when it writes them down (0.171), and
 * foldcast what began first. Which of them that is, is the machine's mood.
 */
function inOrderOfEnds(items: readonly Item[]): Item[] {
  const runs: Item[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run?.some((other) => areSideBySide(other, item)) === true) run.push(item);
    else runs.push([item]);
  }
  return runs.flatMap((run) => run.sort((one, other) => Number(one["completedAtMs"]) - Number(other["completedAtMs"])));
}

function areSideBySide(earlier: Item, later: Item): boolean {
  if (earlier.type !== "commandExecution" || later.type !== "commandExecution") return false;
  return typeof earlier["completedAtMs"] === "number" && typeof later["completedAtMs"] === "number" && Number(later["startedAtMs"]) < earlier["completedAtMs"];
}

function asItem(item: object): Item {
  return item as Item;
}

function keyOf(item: Item): string {
  return `${item.type} ${JSON.stringify(sorted(NAMES[item.type]?.(item) ?? ""))}`;
}

function isEmpty(item: Item): boolean {
  return item.type === "reasoning" && textOf(item["summary"]) === "";
}

/** Parts of a thought are one text here. */
function textOf(summary: unknown): string {
  return Array.isArray(summary) ? summary.join("\n\n") : "";
}

/** A longest sequence that both have, as pairs of places. */
function common(a: readonly string[], b: readonly string[]): [number, number][] {
  const lengths = Array.from({ length: a.length + 1 }, () => Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++;
    else j++;
  }
  return pairs;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

/** Members in one order, those without a value left out: absent is the same as null. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined).sort(([x], [y]) => (x < y ? -1 : 1)).map(([name, member]) => [name, sorted(member)]));
}
