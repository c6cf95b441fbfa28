import type { FileEdit } from "../harness/index.ts";
import type { FileUpdateChange } from "../wire/index.ts";
import { applyHunks, changeOfEdit, changeOfTexts, gitSection, renderHunks } from "./file-changes.ts";
import { HunkComposer } from "./hunk-composer.ts";

type PathState =
  /** `now` is the text before the `pending` edits, which are applied only when somebody looks. */
  | { mode: "texts"; from: string; base: string | null; now: string | null; pending: FileEdit[] }
  | { mode: "hunks"; from: string; composer: HunkComposer; edits: FileUpdateChange[] }
  /** No net can be claimed: the edits are listed one after the other. */
  | { mode: "listed"; from: string; edits: FileUpdateChange[] };

/**
 * What a turn changed, net per path. Adding an edit costs in proportion to that edit; `changes` renders, and is
 * called when somebody looks. A rename keeps both paths; a change that was taken back disappears.
 */
export class NetChanges {
  readonly #paths = new Map<string, PathState>();

  add(edit: FileEdit): void {
    const change = changeOfEdit(edit);
    const isMove = edit.movePath !== undefined && edit.movePath !== null && edit.movePath !== edit.path;
    if (change === null && !isMove) return;
    const state = this.#next(this.#paths.get(edit.path), edit, change);
    if (!isMove) this.#paths.set(edit.path, state);
    else {
      this.#paths.delete(edit.path);
      this.#paths.set(edit.movePath!, state);
    }
  }

  changes(): FileUpdateChange[] {
    const out: FileUpdateChange[] = [];
    for (const [path, state] of this.#paths) {
      const change = render(path, state);
      if (change !== null) out.push(change);
    }
    return out;
  }

  /** Git's form of all changes. */
  diff(cwd: string): string {
    return this.changes().map((change) => gitSection(change, cwd)).join("");
  }

  #next(state: PathState | undefined, edit: FileEdit, change: FileUpdateChange | null): PathState {
    const from = state?.from ?? edit.path;
    if (state === undefined || state.mode === "texts") {
      // A known text after the edit replaces whatever came before; a known text before it starts afresh from there.
      if (edit.after !== undefined) return { mode: "texts", from, base: state === undefined ? (edit.before ?? null) : state.base, now: edit.after, pending: [] };
      if (typeof edit.before === "string") return { mode: "texts", from, base: state === undefined ? edit.before : state.base, now: edit.before, pending: [edit] };
      if (state !== undefined) {
        if (change !== null) state.pending.push(edit);
        return { ...state, from };
      }
    }
    const edits = state === undefined ? [] : state.edits;
    if (change !== null) edits.push(change);
    const composer = state === undefined ? new HunkComposer() : state.mode === "hunks" ? state.composer : null;
    // A move alone changes no line.
    const hunks = edit.hunks !== undefined && edit.hunks.length > 0 ? edit.hunks : (change?.kind.type === "update" && change.diff === "" ? [] : null);
    if (composer !== null && hunks !== null && composer.add(hunks)) return { mode: "hunks", from, composer, edits };
    return { mode: "listed", from, edits };
  }
}

function render(path: string, state: PathState): FileUpdateChange | null {
  const movePath = state.from === path ? null : path;
  switch (state.mode) {
    case "texts": {
      let done = 0;
      for (; done < state.pending.length; done += 1) {
        const text = applyEdit(state.now, state.pending[done]!);
        if (text === undefined) break;
        state.now = text;
      }
      state.pending.splice(0, done);
      if (state.pending.length > 0) {
        return listed(state.from, movePath, [changeOfTexts(state.from, state.base, state.now, null), ...state.pending.map(changeOfEdit)]);
      }
      return changeOfTexts(state.from, state.base, state.now, movePath);
    }
    case "hunks": {
      const hunks = state.composer.hunks();
      return hunks.length === 0 && movePath === null ? null : { path: state.from, kind: { type: "update", move_path: movePath }, diff: renderHunks(hunks) };
    }
    case "listed":
      return listed(state.from, movePath, state.edits);
  }
}

function listed(path: string, movePath: string | null, changes: readonly (FileUpdateChange | null)[]): FileUpdateChange | null {
  const known = changes.filter((change) => change !== null);
  const last = known.at(-1);
  if (last === undefined) return null;
  if (last.kind.type !== "update") return { ...last, path: movePath ?? path };
  const diff = known.map((change) => (change.kind.type === "update" ? change.diff : "")).join("");
  return diff === "" && movePath === null ? null : { path, kind: { type: "update", move_path: movePath }, diff };
}

/** The text after an edit that comes without it; undefined when the edit does not fit the text. */
function applyEdit(text: string | null, edit: FileEdit): string | null | undefined {
  if (edit.kind === "delete") return null;
  if (text === null) return undefined;
  if (edit.hunks !== undefined && edit.hunks.length > 0) return applyHunks(text, edit.hunks) ?? undefined;
  let out = text;
  for (const fragment of edit.fragments ?? []) {
    const at = out.indexOf(fragment.old);
    // A piece that stands in several places does not say which one was meant.
    if (fragment.old === "" || at < 0 || out.includes(fragment.old, at + 1)) return undefined;
    out = out.slice(0, at) + fragment.new + out.slice(at + fragment.old.length);
  }
  return out;
}
