import { isJsonObject } from "@foldcast/protocol-core/wire";
import { withoutIds } from "../normal.ts";

/** Members whose values differ between any two runs of the same server on two machines. */
const VOLATILE = /(?:At|AtMs|durationMs|emittedAtMs)$|^(?:userAgent|codexHome|revision|path|version|serverName|installationId|filePath)$/;
/** Ids that are not UUIDs: of items, calls, processes. */
const LOCAL_IDS = /^(?:id|itemId|processId|turnCursor)$|[cC]ursor$/;
const TRIMMED = /…\[\d+ chars trimmed\]$/;

/** The same value with everything taken out of it that only names this run. */
export function stabilised(value: unknown): unknown {
  return withoutIds(strip(value ?? null));
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (!isJsonObject(value)) return typeof value === "string" && TRIMMED.test(value) ? value.replace(TRIMMED, "") : value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => {
    if (VOLATILE.test(name)) return [name, typeof member];
    if (LOCAL_IDS.test(name) && typeof member === "string") return [name, "string"];
    return [name, strip(member)];
  }));
}

/** Deep equality in which a text that the recording cut short equals whatever begins with it. */
export function isSame(recorded: unknown, ours: unknown): boolean {
  if (typeof recorded === "string" && typeof ours === "string") {
    if (recorded === ours) return true;
    const listed = recorded.indexOf(", expected one of `");
    // The list of methods is each server's own.
    return listed !== -1 && ours.startsWith(recorded.slice(0, listed + ", expected one of `".length));
  }
  if (Array.isArray(recorded) && Array.isArray(ours)) return recorded.length === ours.length && recorded.every((each, at) => isSame(each, ours[at]));
  if (isJsonObject(recorded) && isJsonObject(ours)) {
    const names = Object.keys(recorded);
    return names.length === Object.keys(ours).length && names.every((name) => name in ours && isSame(recorded[name], ours[name]));
  }
  return recorded === ours;
}

/**
 * Remembers which names of the recording stand for which of ours: ids, cursors and revisions that stand at the same
 * place in both answers.
 */
export function alignNames(recorded: unknown, ours: unknown, names: Map<string, string>, member = ""): void {
  if (typeof recorded === "string" && typeof ours === "string") {
    if (/(?:^|[a-z])(?:[iI]d|[cC]ursor|revision)$/.test(member) && !names.has(recorded)) names.set(recorded, ours);
    return;
  }
  if (Array.isArray(recorded) && Array.isArray(ours)) {
    recorded.forEach((each, at) => alignNames(each, ours[at], names, member));
  } else if (isJsonObject(recorded) && isJsonObject(ours)) {
    for (const [name, each] of Object.entries(recorded)) alignNames(each, ours[name], names, name);
  }
}

/** The recorded value with our names in it. */
export function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((each) => renamed(each, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renamed(each, names)]));
}
