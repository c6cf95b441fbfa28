import { isAbsolute, resolve } from "node:path";
import type { FileEdit } from "@foldcast/protocol-core/harness";
import type { ShownDiff } from "./notes.ts";
import { objectOf, stringOf } from "@foldcast/adapter-kit";

/** Tools that leave every file as it was. */
const HARMLESS: ReadonlySet<string> = new Set([
  "Read", "Grep", "Glob", "ReadMediaFile", "WebSearch", "FetchURL", "TodoList", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TaskList",
  "TaskOutput", "WaitFor", "Skill",
]);

/**
 * What files held in the course of a turn, as far as it is known: from the copies that Kimi Code keeps of a file before
 * a turn first changes it, carried on over the edits of the turn.
 */
export class FileTexts {
  readonly #cwd: string;
  /** Null = there is no such file. */
  readonly #texts = new Map<string, string | null>();

  constructor(cwd: string | null) {
    this.#cwd = cwd ?? "/";
  }

  /** The copy of a file as it was before. */
  know(path: string, text: string | null): void {
    this.#texts.set(this.#absolute(path), text);
  }

  /** A call ended: gives its changes by the best evidence, null for tools that change no file in a known way. */
  editsOf(name: string, input: unknown, succeeded: boolean, diffs: readonly ShownDiff[]): FileEdit[] | null {
    const call = objectOf(input);
    const path = stringOf(call["path"]);
    const isEdit = name === "Edit" || name === "StrReplaceFile";
    const isWrite = name === "Write" || name === "WriteFile";
    if (path === null || (!isEdit && !isWrite)) {
      // Whatever else ran may have changed any file.
      if (!HARMLESS.has(name)) this.#texts.clear();
      return null;
    }
    if (!succeeded) return null;
    const shown = diffs.filter((diff) => diff.old !== "");
    const known = isWrite ? this.#write(path, call) : this.#edit(path, call);
    if (known !== null) return [known];
    return shown.length === 0 ? null : shown.map((diff) => ({ path: diff.path, fragments: [{ old: diff.old, new: diff.new }] }));
  }

  #write(path: string, call: Readonly<Record<string, unknown>>): FileEdit | null {
    const content = stringOf(call["content"]);
    const absolute = this.#absolute(path);
    const before = this.#texts.get(absolute);
    if (content === null || before === undefined) return null;
    const after = call["mode"] === "append" ? `${before ?? ""}${content}` : content;
    this.#texts.set(absolute, after);
    return { path, before, after };
  }

  #edit(path: string, call: Readonly<Record<string, unknown>>): FileEdit | null {
    const old = stringOf(call["old_string"]);
    const replacement = stringOf(call["new_string"]);
    const absolute = this.#absolute(path);
    const before = this.#texts.get(absolute);
    if (old === null || old === "" || replacement === null || typeof before !== "string") return null;
    if (!before.includes(old)) {
      // The copy is not what the edit met.
      this.#texts.delete(absolute);
      return null;
    }
    const after = call["replace_all"] === true ? before.split(old).join(replacement) : before.replace(old, () => replacement);
    this.#texts.set(absolute, after);
    return { path, before, after };
  }

  #absolute(path: string): string {
    return isAbsolute(path) ? path : resolve(this.#cwd, path);
  }
}
