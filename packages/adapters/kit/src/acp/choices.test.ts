import { describe, expect, it } from "vitest";
import type { SessionState } from "@foldcast/protocol-core/harness";
import { AcpChoices } from "./choices.ts";
import type { AcpDialect } from "./dialect.ts";
import type { JsonRecord } from "../json.ts";

const choice = (category: string, currentValue: string, values: string[]) => ({ id: `the ${category}`, category, type: "select", currentValue, options: values.map((value) => ({ value, name: value.toUpperCase() })) });
const configOptions = [choice("model", "small", ["small", "large"]), choice("thought_level", "off", ["off", "on"]), choice("mode", "ask", ["ask", "auto"])];

function choices(opened: JsonRecord, answers: Record<string, unknown> = {}, dialect: AcpDialect = {}) {
  const asked: [string, object][] = [];
  const states: SessionState[] = [];
  const made = new AcpChoices({
    name: "The agent", dialect, report: (state) => states.push(state),
    request: (method, params) => {
      asked.push([method, params]);
      return Promise.resolve(answers[method] ?? {});
    },
  });
  made.opened(opened);
  return { made, asked, states };
}

describe("choices of a session", () => {
  it("are told, and made through config options", async () => {
    const { made, asked, states } = choices({ configOptions });
    await made.select({ model: "large", thinking: "on", permissionMode: "auto" });
    expect(asked).toEqual([
      ["session/set_config_option", { configId: "the model", value: "large" }],
      ["session/set_config_option", { configId: "the thought_level", value: "on" }],
      ["session/set_config_option", { configId: "the mode", value: "auto" }],
    ]);
    expect([states[0], states.at(-1)]).toEqual([{ model: "small", thinking: "off", permissionMode: "ask" }, { model: "large", thinking: "on", permissionMode: "auto" }]);
  });

  it("are made through the older methods where there are only those", async () => {
    const { made, asked } = choices({ models: { currentModelId: "a", availableModels: [{ modelId: "a", name: "A" }, { modelId: "b" }] }, modes: { currentModeId: "x", availableModes: [{ id: "x" }, { id: "y" }] } });
    await made.select({ model: "b", permissionMode: "y", thinking: "high" });
    expect(asked).toEqual([["session/set_model", { modelId: "b" }], ["session/set_mode", { modeId: "y" }]]);
    expect(made.config.model).toMatchObject({ current: "b", values: [{ id: "a", name: "A" }, { id: "b", name: "b" }] });
  });

  it("change nothing that is chosen already, not offered, or not asked for", async () => {
    const { made, asked } = choices({ configOptions });
    await made.select({ model: "small", thinking: "xhigh", permissionMode: ":workspace" });
    await made.select({ model: null, thinking: null });
    expect(asked).toEqual([]);
  });

  it("take the agent's own mode for one of the host's", async () => {
    const { made, asked } = choices({ configOptions }, {}, { modeOf: (mode) => (mode === ":danger-full-access" ? "auto" : null) });
    await made.select({ permissionMode: ":workspace" });
    await made.select({ permissionMode: ":danger-full-access" });
    expect(asked).toEqual([["session/set_config_option", { configId: "the mode", value: "auto" }]]);
  });

  it("refuse a model that is not there", async () => {
    await expect(choices({ configOptions }).made.select({ model: "huge" })).rejects.toThrow("The agent has no model huge; it has small, large.");
    await expect(choices({}).made.select({ model: "huge" })).rejects.toThrow("does not let its model be chosen");
  });

  it("follow what the agent says: levels of another model, a mode that it changed", async () => {
    const other = [choice("model", "large", ["small", "large"]), choice("thought_level", "high", ["low", "high"])];
    const { made, asked, states } = choices({ configOptions }, { "session/set_config_option": { configOptions: other } });
    await made.select({ model: "large", thinking: "low" });
    expect(asked.at(-1)).toEqual(["session/set_config_option", { configId: "the thought_level", value: "low" }]);
    expect(states[1]).toEqual({ model: "large", thinking: "high", permissionMode: "ask" });
    made.told({ permissionMode: "auto" });
    await made.select({ permissionMode: "ask" });
    expect(asked.length).toBe(3);
  });

  it("are found in groups", () => {
    const { made } = choices({ configOptions: [{ id: "m", category: "model", currentValue: "a", options: [{ group: "g", options: [{ value: "a", name: "A" }] }, { value: "b", name: "B", description: "the other" }] }] });
    expect(made.config.model?.values).toEqual([{ id: "a", name: "A", description: null }, { id: "b", name: "B", description: "the other" }]);
  });
});
