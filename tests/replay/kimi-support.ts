import { readdirSync } from "node:fs";
import { join } from "node:path";
import { definition } from "@foldcast/adapter-kimi-code";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { replay } from "../../packages/host-runtime/src/replay/replay.ts";
import type { DiagnosticRow, ErrorRow, ReplayRow, SessionRow, TurnRow } from "../../packages/host-runtime/src/replay/rows.ts";
import { DATA } from "./support.ts";

export interface KimiReplay {
  session: SessionRow | null;
  turns: TurnRow[];
  items: ThreadItem[];
  diagnostics: DiagnosticRow[];
  errors: ErrorRow[];
}

/** Session files of kimi-cli and Kimi Code in the given material, sub-agents' files too. */
export function kimiFiles(): string[] {
  const own = (name: string): boolean => /(?:^|\/)(?:wire|context)[^/]*\.jsonl$/.test(name);
  return ["sessions/kimi", "kimi/history"].flatMap((part) =>
    readdirSync(join(DATA, part), { recursive: true, encoding: "utf8" }).filter(own).map((name) => join(DATA, part, name)),
  );
}

export async function replayKimi(path: string): Promise<KimiReplay> {
  const rows: ReplayRow[] = [];
  const entries = [{ id: definition.manifest.id, load: () => Promise.resolve(definition) }];
  for await (const row of replay({ path, harness: null, withItems: true, entries, extraToolMaps: {} })) rows.push(row);
  const turns = rows.filter((row) => row.type === "turn");
  return {
    session: rows.find((row) => row.type === "session") ?? null,
    turns,
    items: turns.flatMap((turn) => turn.threadItems ?? []),
    diagnostics: rows.filter((row) => row.type === "diagnostic"),
    errors: rows.filter((row) => row.type === "error"),
  };
}
