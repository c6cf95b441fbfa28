/** One line of an update chunk: context, added or removed. */
export interface ChunkLine {
  readonly mark: " " | "+" | "-";
  readonly text: string;
}

/** A run of lines of an update; `context` is the line named after `@@`, below which the run must occur. */
export interface Chunk {
  readonly context: string | null;
  readonly lines: ChunkLine[];
  atEndOfFile: boolean;
}

export type Operation =
  | { readonly kind: "add"; readonly path: string; readonly lines: string[] }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "update"; readonly path: string; movePath: string | null; readonly chunks: Chunk[] };

export type Grammar =
  | { readonly ok: true; readonly operations: readonly Operation[] }
  | { readonly ok: false; readonly error: string };

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const ADD = "*** Add File: ";
const DELETE = "*** Delete File: ";
const UPDATE = "*** Update File: ";
const MOVE = "*** Move to: ";
const END_OF_FILE = "*** End of File";
const ENVIRONMENT = "*** Environment ID:";
const HEREDOC_STARTS = new Set(["<<EOF", "<<'EOF'", '<<"EOF"']);

class PatchError extends Error {}

/**
 * Reads the text of a patch into operations, without looking at any file. Codex 0.171 behaviour: markers
 * may be padded with white space and end in CRLF, the whole may be wrapped in a literal heredoc, the first
 * chunk may leave out `@@`, an empty line is empty context. Never throws.
 */
export function readPatchText(input: string): Grammar {
  try {
    return { ok: true, operations: readOperations(input) };
  } catch (error) {
    if (error instanceof PatchError) return { ok: false, error: error.message };
    throw error;
  }
}

function readOperations(input: string): Operation[] {
  const lines = patchLines(input);
  const operations: Operation[] = [];
  let ended = false;
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index]!;
    const number = index + 1;
    if (ended) {
      if (line.trim() === "") continue;
      throw new PatchError(`invalid patch: The last line of the patch must be '${END}'`);
    }
    const current = operations.at(-1);
    // Inside an update a leading space means context, so only the right side of a marker may be padded.
    const marker = current?.kind === "update" ? line.trimEnd() : line.trim();
    if (marker === END) {
      requireContent(current, marker, number);
      ended = true;
    } else if (marker.startsWith(ADD)) {
      requireContent(current, marker, number);
      operations.push({ kind: "add", path: marker.slice(ADD.length), lines: [] });
    } else if (marker.startsWith(DELETE)) {
      requireContent(current, marker, number);
      operations.push({ kind: "delete", path: marker.slice(DELETE.length) });
    } else if (marker.startsWith(UPDATE)) {
      requireContent(current, marker, number);
      operations.push({ kind: "update", path: marker.slice(UPDATE.length), movePath: null, chunks: [] });
    } else if (current?.kind === "update") {
      readUpdateLine(current, line, number);
    } else if (current?.kind === "add" && line.startsWith("+")) {
      current.lines.push(line.slice(1));
    } else if (current === undefined && marker.startsWith(ENVIRONMENT)) {
      throw new PatchError("apply_patch environment selection is unavailable");
    } else {
      throw invalidHunk(
        number,
        `'${marker}' is not a valid hunk header. Valid hunk headers: '${ADD}{path}', '${DELETE}{path}', '${UPDATE}{path}'`,
      );
    }
  }
  if (operations.length === 0) throw new PatchError("No files were modified.");
  return operations;
}

/** Lines from the begin to the end marker, with a heredoc wrapper taken off. */
function patchLines(input: string): string[] {
  const lines = input
    .trim()
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const wrapped = lines.length >= 4 && HEREDOC_STARTS.has(lines[0]!) && lines.at(-1)!.endsWith("EOF");
  const inner = wrapped ? lines.slice(1, -1) : lines;
  if (inner[0]?.trim() !== BEGIN) throw new PatchError(`invalid patch: The first line of the patch must be '${BEGIN}'`);
  if (inner.at(-1)?.trim() !== END) throw new PatchError(`invalid patch: The last line of the patch must be '${END}'`);
  return inner;
}

function readUpdateLine(update: Extract<Operation, { kind: "update" }>, line: string, number: number): void {
  const trimmed = line.trimEnd();
  const chunk = update.chunks.at(-1);
  const opensChunk = trimmed === "@@" || trimmed.startsWith("@@ ");
  if (chunk?.atEndOfFile === true && !opensChunk) {
    if (trimmed === "") return;
    throw invalidHunk(number, `Expected update hunk to start with a @@ context marker, got: '${line}'`);
  }
  if (chunk === undefined && update.movePath === null && trimmed.startsWith(MOVE)) {
    update.movePath = trimmed.slice(MOVE.length);
    return;
  }
  if (opensChunk) {
    if (chunk?.lines.length === 0) throw unexpectedLine(line, number);
    const context = trimmed === "@@" ? null : trimmed.slice(3);
    update.chunks.push({ context, lines: [], atEndOfFile: false });
    return;
  }
  if (trimmed === END_OF_FILE) {
    if (chunk?.lines.length === 0) throw invalidHunk(number, "Update hunk does not contain any lines");
    if (chunk !== undefined) chunk.atEndOfFile = true;
    return;
  }
  const mark = line === "" ? " " : line[0];
  if (mark !== " " && mark !== "+" && mark !== "-") throw unexpectedLine(line, number);
  let target = chunk;
  if (target === undefined) {
    target = { context: null, lines: [], atEndOfFile: false };
    update.chunks.push(target);
  }
  target.lines.push({ mark, text: line.slice(1) });
}

/** An update must have a chunk, and its last chunk a line, before the next operation begins. */
function requireContent(operation: Operation | undefined, next: string, number: number): void {
  if (operation?.kind !== "update") return;
  const chunk = operation.chunks.at(-1);
  if (chunk === undefined) throw invalidHunk(number, `Update file hunk for path '${operation.path}' is empty`);
  if (chunk.lines.length > 0) return;
  throw next === END ? invalidHunk(number, "Update hunk does not contain any lines") : unexpectedLine(next, number);
}

function unexpectedLine(line: string, number: number): PatchError {
  return invalidHunk(
    number,
    `Unexpected line found in update hunk: '${line}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`,
  );
}

function invalidHunk(number: number, message: string): PatchError {
  return new PatchError(`invalid hunk at line ${number}, ${message}`);
}
