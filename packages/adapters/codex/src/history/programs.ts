import type { TurnOutcome } from "@foldcast/protocol-core/harness";
import { type ExecCall, readExecOutput, readExecProgram } from "@foldcast/protocol-core/tools";
import { callItem, isProgram } from "./calls.ts";
import { nativeItem } from "./native-items.ts";
import { objectOf, stringOf } from "@foldcast/adapter-kit";
import { stringsOf } from "./record.ts";
import type { BuiltItem, CallSlot, NativeSlot, Slot } from "./slots.ts";

type ResolvedCall = Extract<ExecCall, { status: "resolved" }>;

export interface Placed {
  slot: Slot;
  /** Numbers of the records in the turn that made the slot and, for a call, ended it. */
  made: number;
  ended: number | null;
}

/** Programs in the background at once that are looked through. */
const MAX_OPEN = 64;

/**
 * Finds the program that an item came out of. Nothing links them but that the item was completed while the program ran,
 * or later, when the program went on in the background; of several programs, the one that names the same command.
 */
export function joinPrograms(placed: readonly Placed[]): void {
  let open: (Placed & { slot: CallSlot })[] = [];
  let last: CallSlot | null = null;
  for (const each of [...placed].sort((a, b) => a.made - b.made)) {
    const { slot, made } = each;
    if (slot.kind === "call" && isProgram(slot.name)) {
      open = [...open, { ...each, slot }].slice(-MAX_OPEN);
      last = slot;
    }
    if (slot.kind !== "native") continue;
    open = open.filter(({ ended }) => ended === null || ended > made);
    const found = open.findLast((program) => names(program.slot, slot)) ?? open.at(-1);
    const program = found?.slot ?? (slot.id.startsWith("exec-") ? last : null);
    if (program === null) continue;
    slot.program = program;
    program.nested.push(slot);
  }
}

/**
 * What a program shows. Its own items stand for it; a program without any is read, and shown as what it certainly
 * calls. Of a program that has items for some of its calls only, the other call is shown too, or else its text.
 * `isRecorded`: the session keeps an item of every call, so that a call without one did not run.
 */
export function programItems(slot: CallSlot, turn: TurnOutcome, cwd: string, isRecorded: boolean): (BuiltItem & { from: CallSlot | NativeSlot })[] {
  const calls = resolvedCalls(slot);
  const left = uncovered(calls, slot.nested);
  const hasRun = readExecOutput(slot.outputs[0]).state === "completed";
  const isPartly = slot.nested.length > 0 && left.length > 1;
  const own = callItem(slot, turn, cwd, isPartly || (slot.nested.length === 0 && isRecorded && hasRun && left.length > 0));
  if (slot.nested.length === 0) return own === null ? [] : [{ ...own, from: slot }];
  const items = [...slot.nested]
    .sort((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0))
    .flatMap((nested) => {
      const built = nativeItem(nested.id, nested.native);
      return built === null ? [] : [{ ...built, from: nested }];
    });
  const plans = hasRun ? calls.filter((call) => call.name === "update_plan").map((call, n) => inner(`${slot.id}:plan:${n}`, call, slot)) : [];
  if (left.length === 0 || own === null) return [...plans, ...items];
  const rest = isPartly ? own : { ...own, item: inner(slot.id, left[0]!, slot).item };
  return [...plans, ...items, { ...rest, from: slot }];
}

function inner(id: string, call: ResolvedCall, from: CallSlot): BuiltItem & { from: CallSlot } {
  return { item: { kind: "tool", id, name: call.name, input: call.args ?? {} }, outcome: { status: "succeeded" }, from };
}

function resolvedCalls(slot: CallSlot): ResolvedCall[] {
  const source = stringOf(slot.input);
  return source === null ? [] : readExecProgram(source).calls.filter((call): call is ResolvedCall => call.status === "resolved");
}

/** Items that a tool makes, by its name; other tools make none. */
const ITEMS: Readonly<Record<string, string>> = {
  exec_command: "CommandExecution", shell_command: "CommandExecution", apply_patch: "FileChange", view_image: "ImageView",
};

function uncovered(calls: readonly ResolvedCall[], nested: readonly NativeSlot[]): ResolvedCall[] {
  const free = [...nested];
  return calls.filter((call) => {
    const type = ITEMS[call.name];
    if (type === undefined) return false;
    // A patch in a command becomes a change of files.
    const at = free.findIndex(({ native }) => native["type"] === type || (type === "CommandExecution" && native["type"] === "FileChange" && /apply_?patch/.test(commandOf(call))));
    if (at !== -1) free.splice(at, 1);
    return at === -1;
  });
}

function commandOf(call: ResolvedCall): string {
  return stringOf(objectOf(call.args)["cmd"]) ?? "";
}

function names(program: CallSlot, { native }: NativeSlot): boolean {
  const command = stringsOf(native["command"]).at(-1);
  return command !== undefined && (stringOf(program.input) ?? "").includes(JSON.stringify(command).slice(1, -1));
}
