import type { KnownCall, NotedLine, SpokenPart } from "./notes.ts";

/** What later lines of a turn say about earlier ones. */
export interface Survey {
  /** Calls by id with their arguments: an approval is asked for before its call is written, and some calls never are. */
  calls: ReadonlyMap<string, KnownCall>;
  /** Step → all that it said, where it broke off and its own lines do not hold it all. */
  salvaged: ReadonlyMap<string, readonly SpokenPart[]>;
}

export const NO_SURVEY: Survey = { calls: new Map(), salvaged: new Map() };

export function surveyOf(lines: readonly NotedLine[]): Survey {
  const calls = new Map<string, KnownCall>();
  const salvaged = new Map<string, readonly SpokenPart[]>();
  let broken: string | null = null;
  for (const { notes } of lines) {
    for (const note of notes) {
      if (note.type === "call" && !note.growing) calls.set(note.call.id, note.call);
      else if (note.type === "stepEnd") broken = note.finish === "interrupted" ? note.step : null;
      else if (note.type === "twin") {
        for (const call of note.calls) if (!calls.has(call.id)) calls.set(call.id, call);
        if (note.salvaged && broken !== null) salvaged.set(broken, note.parts);
      }
    }
  }
  return { calls, salvaged };
}
