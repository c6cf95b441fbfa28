import type { ScenarioError } from "./check.ts";
import type { Scenario } from "./schema.ts";
import type { Step } from "./steps.ts";
import { branchPrefix, stepId, turnPrefix, walkSteps } from "./walk.ts";

/** Ids that must be used once, calls that must exist where they are spoken of. */
export function checkReferences(scenario: Scenario): ScenarioError[] {
  return scenario.turns.flatMap((turn, index) => new TurnReferences().check(turn.steps, turnPrefix(index), `turns[${index}].steps`));
}

class TurnReferences {
  readonly #errors: ScenarioError[] = [];
  readonly #items = new Set<string>();
  readonly #interactions = new Set<string>();
  #callIds = new Set<string>();

  check(steps: readonly Step[], prefix: string, path: string): ScenarioError[] {
    this.#callIds = new Set([...walkSteps(steps, prefix)].flatMap(({ step, defaultId }) =>
      "tool" in step ? [step.tool.id ?? defaultId] : "edit" in step ? [step.edit.id ?? defaultId] : []));
    this.#sequence(steps, prefix, path, new Map());
    return this.#errors;
  }

  /** `calls`: tools that are sure to have started before this place → whether they have a result. */
  #sequence(steps: readonly Step[], prefix: string, path: string, calls: Map<string, "open" | "done">): void {
    for (const [index, step] of steps.entries()) {
      const at = `${path}[${index}]`;
      const defaultId = stepId(prefix, index);
      if ("parallel" in step) {
        // A branch does not see what the others start: their order against each other is not the file's.
        const seen = step.parallel.map((branch, number) => {
          const inner = new Map(calls);
          this.#sequence(branch, branchPrefix(defaultId, number), `${at}.parallel[${number}]`, inner);
          return inner;
        });
        for (const inner of seen) for (const [id, state] of inner) if (calls.get(id) !== "done") calls.set(id, state);
      } else if ("tool" in step) {
        const id = step.tool.id ?? defaultId;
        this.#use(this.#items, id, `${at}.tool.id`);
        calls.set(id, "open");
      } else if ("output" in step) {
        this.#refer(calls, step.output, `${at}.output`);
      } else if ("result" in step) {
        this.#refer(calls, step.result.id, `${at}.result.id`);
        if (calls.has(step.result.id)) calls.set(step.result.id, "done");
      } else if ("edit" in step) {
        this.#use(this.#items, step.edit.id ?? defaultId, `${at}.edit.id`);
        if (step.edit.before === null && step.edit.after === null) this.#fault(`${at}.edit`, "An edit from nothing to nothing: give `before` or `after`.");
      } else if ("approve" in step) {
        this.#use(this.#interactions, step.approve.id ?? defaultId, `${at}.approve.id`);
        if (step.approve.id !== undefined && calls.get(step.approve.id) === "done") this.#fault(`${at}.approve.id`, `The call "${step.approve.id}" has its result already.`);
      } else if ("ask" in step) {
        this.#use(this.#interactions, step.ask.id ?? defaultId, `${at}.ask.id`);
      } else if ("elicit" in step) {
        this.#use(this.#interactions, step.elicit.id ?? defaultId, `${at}.elicit.id`);
      } else if ("suggest" in step) {
        this.#use(this.#interactions, step.suggest.id ?? defaultId, `${at}.suggest.id`);
      } else if ("subagent" in step) {
        this.#use(this.#items, step.subagent.id ?? defaultId, `${at}.subagent.id`);
      } else if ("reasoning" in step || "message" in step || "compaction" in step) {
        this.#use(this.#items, step.id ?? defaultId, `${at}.id`);
      }
    }
  }

  #use(taken: Set<string>, id: string, path: string): void {
    if (taken.has(id)) this.#fault(path, `The id "${id}" is used twice in this turn.`);
    taken.add(id);
  }

  #refer(calls: ReadonlyMap<string, "open" | "done">, id: string, path: string): void {
    const state = calls.get(id);
    if (state === "open") return;
    if (state === "done") this.#fault(path, `The call "${id}" has its result already.`);
    else if (this.#callIds.has(id)) this.#fault(path, `The call "${id}" is no tool that has started before this step.`);
    else this.#fault(path, `There is no tool "${id}" in this turn.`);
  }

  #fault(path: string, message: string): void {
    this.#errors.push({ path, message });
  }
}
