import type { ChildAgent, HarnessEvent, HarnessItem, InteractionRequest, ItemOutcome, ItemResult, FileEdit } from "@foldcast/protocol-core/harness";
import { readElicitationSchema } from "@foldcast/protocol-core/interaction";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { SimpleStep } from "../scenario/steps.ts";
import { splitText } from "./text.ts";
import type { Action, TurnState } from "./state.ts";

type Steps = Generator<Action, void>;
type Of<Name extends string> = Extract<SimpleStep, Record<Name, unknown>>;

/** Events that go out together without a delay between them, at most. */
const BATCH = 64;

/** Plays one step: a sequence of actions. Pure but for `state`. */
export function* playStep(step: SimpleStep, defaultId: string, state: TurnState): Steps {
  if ("reasoning" in step) yield* streamItem({ kind: "reasoning", id: step.id ?? defaultId }, step.reasoning, step, { status: "succeeded" }, state);
  else if ("message" in step) yield* playMessage(step, defaultId, state);
  else if ("tool" in step) yield* playTool(step, defaultId, state);
  else if ("output" in step) {
    // Output of a call that somebody declined never came to be.
    if (state.isOpen(step.output)) yield* stream(step.output, "output", step.text, step, state, []);
  } else if ("result" in step) yield emit(playResult(step, state));
  else if ("edit" in step) yield* playEdit(step, defaultId, state);
  else if ("plan" in step) {
    const { explanation } = step;
    yield emit([{ type: "plan.updated", plan: step.plan, ...(explanation === undefined ? {} : { explanation }), at: state.now() }]);
  } else if ("usage" in step) yield emit([{ type: "usage.updated", usage: step.usage, at: state.now() }]);
  else if ("approve" in step) yield* playApprove(step, defaultId, state);
  else if ("ask" in step) {
    const id = step.ask.id ?? defaultId;
    const item = state.isOpen(id) ? { itemId: id } : {};
    yield open({ id, kind: "question", ...item, questions: step.ask.questions }, state);
    yield { type: "await", interactionId: id };
  } else if ("elicit" in step) yield* playElicit(step, defaultId, state);
  else if ("suggest" in step) {
    const { id = defaultId, text, replies } = step.suggest;
    yield open({ id, kind: "quickReply", text, replies }, state);
  } else if ("compaction" in step) {
    const id = step.id ?? defaultId;
    yield emit([...state.start({ kind: "compaction", id }), ...state.complete(id, { status: "succeeded" })]);
  } else if ("subagent" in step) yield* playSubagent(step, defaultId, state);
  else if ("delayMs" in step) yield { type: "wait", ms: step.delayMs };
  else if ("raw" in step) {
    // Loosely checked on purpose: a scenario may say what no well-behaved harness would.
    yield emit([{ at: state.now(), ...step.raw } as unknown as HarnessEvent]);
  } else yield { type: "crash" };
}

function emit(events: HarnessEvent[]): Action {
  return { type: "emit", events };
}

function open(interaction: InteractionRequest, state: TurnState): Action {
  return emit([{ type: "interaction.opened", interaction, at: state.now() }]);
}

function outcome(status: ItemOutcome["status"], message?: string): ItemOutcome {
  return status === "failed" ? { status, ...(message === undefined ? {} : { message }) } : { status };
}

/** The text's pieces as updates, `before` in front of the first. */
function* stream(
  itemId: string, type: "text" | "output", text: string, pace: { chunks?: number; chunkDelayMs?: number }, state: TurnState, before: HarnessEvent[],
): Steps {
  let events = before;
  let first = true;
  for (const append of splitText(text, pace.chunks ?? 1)) {
    if (!first && pace.chunkDelayMs !== undefined && pace.chunkDelayMs > 0) {
      yield emit(events);
      events = [];
      yield { type: "wait", ms: pace.chunkDelayMs };
    }
    first = false;
    events.push({ type: "item.updated", itemId, update: { type, append }, at: state.now() });
    if (events.length >= BATCH) {
      yield emit(events);
      events = [];
    }
  }
  if (events.length > 0) yield emit(events);
}

function* streamItem(item: HarnessItem, text: string, pace: { chunks?: number; chunkDelayMs?: number }, end: ItemOutcome, state: TurnState): Steps {
  yield* stream(item.id, "text", text, pace, state, state.start(item));
  yield emit(state.complete(item.id, end));
}

function* playMessage(step: Of<"message">, defaultId: string, state: TurnState): Steps {
  const { phase } = step;
  const item: HarnessItem = { kind: "message", id: step.id ?? defaultId, ...(phase === undefined ? {} : { phase }) };
  yield* streamItem(item, step.message, step, outcome(step.outcome ?? "succeeded"), state);
}

function toolItem(id: string, { tool }: Of<"tool">): HarnessItem {
  return { kind: "tool", id, name: tool.name, input: tool.input, ...(tool.map === undefined ? {} : { map: tool.map }) };
}

function fileEdit({ edit }: Of<"edit">): FileEdit {
  const { path, movePath, before, after } = edit;
  return { path, ...(movePath === undefined ? {} : { movePath }), before, after };
}

function startCall(id: string, state: TurnState): HarnessEvent[] {
  const call = state.calls.get(id);
  if (call === undefined) return [];
  return state.start("tool" in call ? toolItem(id, call) : { kind: "fileChange", id, edits: [fileEdit(call)] });
}

function* playTool(step: Of<"tool">, defaultId: string, state: TurnState): Steps {
  yield emit(startCall(step.tool.id ?? defaultId, state));
}

function playResult({ result }: Of<"result">, state: TurnState): HarnessEvent[] {
  const { id, status, message, output, exitCode, durationMs, structured } = result;
  const evidence: ItemResult = {
    ...(output === undefined ? {} : { output }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(structured === undefined ? {} : { structured }),
  };
  return state.complete(id, outcome(status, message), evidence);
}

function* playEdit(step: Of<"edit">, defaultId: string, state: TurnState): Steps {
  const id = step.edit.id ?? defaultId;
  state.reached.add(id);
  yield emit(startCall(id, state));
  // With an approval of its own still to come, the edit stays open until that is answered.
  if (!state.pendingApprovals.has(id)) yield emit(state.complete(id, outcome(step.edit.status)));
}

function* playApprove(step: Of<"approve">, defaultId: string, state: TurnState): Steps {
  const { kind: about, offers, title, reason, cwd, permissions } = step.approve;
  const id = step.approve.id ?? defaultId;
  const call = state.calls.get(id);
  // The approval may stand before its call in the file: what it concerns must be on the screen all the same.
  yield emit(startCall(id, state));
  const toolCommand = call !== undefined && "tool" in call && isJsonObject(call.tool.input) ? call.tool.input["command"] : undefined;
  const command = step.approve.command ?? (about === "command" && typeof toolCommand === "string" ? toolCommand : undefined);
  yield open({
    id,
    kind: "approval",
    about,
    ...(state.isOpen(id) ? { itemId: id } : {}),
    ...(title === undefined ? {} : { title }),
    ...(reason === undefined ? {} : { reason }),
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(call !== undefined && "edit" in call ? { edits: [fileEdit(call)] } : {}),
    offers,
  }, state);
  yield { type: "await", interactionId: id };
  state.pendingApprovals.delete(id);
  const answer = state.answers.get(id);
  const decision = answer?.kind === "approval" ? answer.decision : "decline";
  if (decision === "decline" || decision === "cancel") yield emit(state.complete(id, { status: "declined" }));
  else if (call !== undefined && "edit" in call && state.reached.has(id)) yield emit(state.complete(id, outcome(call.edit.status)));
  if (decision === "cancel") yield { type: "cancel" };
}

function* playElicit({ elicit }: Of<"elicit">, defaultId: string, state: TurnState): Steps {
  const { id = defaultId, server, message, schema, url } = elicit;
  const asked = { id, kind: "elicitation" as const, server, message };
  yield open(url === undefined ? { ...asked, mode: "form", schema: readElicitationSchema(schema) ?? { properties: {} } } : { ...asked, mode: "url", url, elicitationId: id }, state);
  yield { type: "await", interactionId: id };
}

function* playSubagent({ subagent }: Of<"subagent">, defaultId: string, state: TurnState): Steps {
  const { id = defaultId, action, prompt, model, effort, children, status, durationMs } = subagent;
  const running = children.map(({ ref, name, role }): ChildAgent => ({
    ref, ...(name === undefined ? {} : { name }), ...(role === undefined ? {} : { role }), status: "running",
  }));
  yield emit(state.start({
    kind: "agent", id, action,
    ...(prompt === undefined ? {} : { prompt }), ...(model === undefined ? {} : { model }), ...(effort === undefined ? {} : { effort }),
    children: running,
  }));
  if (durationMs !== undefined) yield { type: "wait", ms: durationMs };
  yield emit(state.complete(id, outcome(status), { children }));
}
