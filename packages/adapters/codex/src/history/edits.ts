import type { DiffHunk, FileEdit } from "@foldcast/protocol-core/harness";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { member } from "./record.ts";

/**
 * The edits of a `FileChange`: path → `{type: add|delete, content}` or `{type: update, unified_diff, move_path}`. Sorted
 * by path, as the app-server gives them.
 */
export function editsOf(changes: unknown): FileEdit[] {
  const edits = Object.entries(objectOf(changes)).map(([path, change]) => editOf(path, objectOf(change)));
  return edits.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function editOf(path: string, change: Readonly<Record<string, unknown>>): FileEdit {
  // The first versions name the kind by the member that holds its data.
  const tagged = objectOf(change["add"] ?? change["delete"] ?? change["update"]);
  const type = filledString(change["type"]) ?? ["add", "delete", "update"].find((each) => each in change) ?? "update";
  const content = stringOf(change["content"]) ?? stringOf(tagged["content"]);
  if (type === "add") return { path, before: null, after: content ?? "" };
  if (type === "delete") return content === null ? { path, kind: "delete", after: null } : { path, before: content, after: null };
  const diff = stringOf(member(change, "unified_diff")) ?? stringOf(tagged["unified_diff"]) ?? "";
  const movePath = filledString(member(change, "move_path")) ?? filledString(tagged["move_path"]);
  const moved = movePath === null ? {} : { movePath };
  const hunks = hunksOf(diff);
  return hunks === null ? { path, ...moved, kind: "update", fragments: fragmentsOf(diff) } : { path, ...moved, kind: "update", hunks };
}

const HUNK_HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Hunks of a unified diff; null when its counts are not those of its lines. */
export function hunksOf(diff: string): DiffHunk[] | null {
  const hunks: (DiffHunk & { lines: string[] })[] = [];
  let [oldLeft, newLeft] = [0, 0];
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const isOpen = oldLeft > 0 || newLeft > 0;
    const head = isOpen ? null : HUNK_HEAD.exec(line);
    if (head !== null) {
      [oldLeft, newLeft] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      hunks.push({ oldStart: Number(head[1]), oldLines: oldLeft, newStart: Number(head[3]), newLines: newLeft, lines: [] });
      continue;
    }
    const hunk = hunks.at(-1);
    const mark = line[0] ?? " ";
    if (hunk === undefined) {
      if (!/^(?:---|\+\+\+|diff |index )/.test(line)) return null;
    } else if (mark === "\\") hunk.lines.push(line);
    else if (!isOpen) return null;
    else {
      if (mark !== "+") oldLeft--;
      if (mark !== "-") newLeft--;
      hunk.lines.push(line === "" ? " " : line);
    }
  }
  return oldLeft === 0 && newLeft === 0 ? hunks : null;
}

function fragmentsOf(diff: string): { old: string; new: string }[] {
  const side = (mark: string): string => diff.split("\n").filter((line) => line !== "" && (line[0] === " " || line[0] === mark)).map((line) => `${line.slice(1)}\n`).join("");
  return diff === "" ? [] : [{ old: side("-"), new: side("+") }];
}
