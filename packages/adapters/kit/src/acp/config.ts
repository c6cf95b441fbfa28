import type { SessionState } from "@foldcast/protocol-core/harness";
import { type JsonRecord, filledString, objectOf, objectsOf } from "../json.ts";

/** How a model, a thinking level or a mode is set in a session. */
export interface Choice {
  current: string | null;
  values: readonly { id: string; name: string; description: string | null }[];
  /** Id of the config option, null where the agent has the older methods `session/set_model` and `session/set_mode`. */
  configId: string | null;
}

export interface SessionConfig {
  model: Choice | null;
  thinking: Choice | null;
  mode: Choice | null;
}

/** What `session/new`, `session/load` and the like say can be chosen: `configOptions`, else the older `models` and `modes`. */
export function configOf(answer: JsonRecord): SessionConfig {
  const options = objectsOf(answer["configOptions"]);
  return {
    model: choiceOf(options, "model") ?? olderChoice(objectOf(answer["models"]), "currentModelId", "availableModels", "modelId"),
    thinking: choiceOf(options, "thought_level"),
    mode: choiceOf(options, "mode") ?? olderChoice(objectOf(answer["modes"]), "currentModeId", "availableModes", "id"),
  };
}

/** The session's state as `configOptions` tell it. */
export function stateOfOptions(configOptions: unknown): SessionState {
  const options = objectsOf(configOptions);
  const [model, thinking, permissionMode] = ["model", "thought_level", "mode"].map((category) => choiceOf(options, category)?.current ?? null);
  return {
    ...(model == null ? {} : { model }), ...(thinking == null ? {} : { thinking }), ...(permissionMode == null ? {} : { permissionMode }),
  };
}

export function stateOfConfig({ model, thinking, mode }: SessionConfig): SessionState {
  return {
    ...(model?.current == null ? {} : { model: model.current }),
    ...(thinking?.current == null ? {} : { thinking: thinking.current }),
    ...(mode?.current == null ? {} : { permissionMode: mode.current }),
  };
}

function choiceOf(options: readonly JsonRecord[], category: string): Choice | null {
  const option = options.find((each) => each["category"] === category);
  const id = option === undefined ? null : filledString(option["id"]);
  if (option === undefined || id === null) return null;
  return { configId: id, current: filledString(option["currentValue"]), values: valuesOf(option["options"], "value") };
}

function olderChoice(state: JsonRecord, current: string, available: string, id: string): Choice | null {
  const values = valuesOf(state[available], id);
  return values.length === 0 ? null : { configId: null, current: filledString(state[current]), values };
}

/** Options may stand in groups. */
function valuesOf(options: unknown, id: string): { id: string; name: string; description: string | null }[] {
  return objectsOf(options).flatMap((option) => {
    if (Array.isArray(option["options"])) return valuesOf(option["options"], id);
    const value = filledString(option[id]);
    return value === null ? [] : [{ id: value, name: filledString(option["name"]) ?? value, description: filledString(option["description"]) }];
  });
}
