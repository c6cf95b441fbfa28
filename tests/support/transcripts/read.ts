import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { SHARED } from "../paths.ts";

/** One line of a recorded conversation between a client and the real server (or a stand-in for it). */
export interface RecordedLine {
  /** Which connection of the recording, unique over all files of one recording. */
  conn: string;
  dir: "c2s" | "s2c" | "close";
  msg: unknown;
}

export interface Recording {
  name: string;
  /** A stand-in wrote the answers: they say what a client puts up with, not what the real server says. */
  standIn: boolean;
  lines: RecordedLine[];
}

const FOLDER = join(SHARED, "data", "codex", "transcripts");

/** All recordings. The files of one TUI session belong together: later ones go on with the threads of earlier ones. */
export function recordings(): Recording[] {
  const groups = new Map<string, string[]>();
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl")).sort()) {
    const name = file.startsWith("tui-") ? "tui" : basename(file, ".jsonl");
    groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  return [...groups].map(([name, files]) => {
    let opened = 0;
    const lines = files.flatMap((file) => readFileSync(join(FOLDER, file), "utf8").split("\n").filter((line) => line !== "")).flatMap((line): RecordedLine[] => {
      const { conn, dir, msg } = JSON.parse(line) as { conn?: number; dir: string; msg?: unknown };
      if (dir === "open") opened += 1;
      const of = conn === undefined ? `${opened}` : `${conn}`;
      if (dir === "c-close") return [{ conn: of, dir: "close", msg: null }];
      return dir === "c2s" || dir === "s2c" ? [{ conn: of, dir, msg }] : [];
    });
    return { name, standIn: name.startsWith("stub-"), lines };
  });
}
