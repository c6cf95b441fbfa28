import { expect, test } from "vitest";
import { forCodex, overridesOf } from "./overrides.ts";

const config = (...texts: string[]) => overridesOf({ config: texts });

test("values are TOML, or the text that they are", () => {
  const texts = ["features.code_mode_host=true", 'mcp_servers.x={command="a", args=[1,2]}', "model_reasoning_effort=high", "=notify = ['a,b']", "name='it is", "empty="];
  expect(config(...texts).edits.map(({ keyPath, value }) => [keyPath, value])).toEqual([
    ["features.code_mode_host", true], ["mcp_servers.x", { command: "a", args: [1, 2] }], ["model_reasoning_effort", "high"], ["notify", ["a,b"]], ["name", "'it is"], ["empty", ""],
  ]);
  expect(() => config("model")).toThrow("-c takes KEY=VALUE");
  expect(overridesOf({ enable: ["a"], disable: ["b"] }).edits).toEqual([{ keyPath: "features.a", value: true }, { keyPath: "features.b", value: false }]);
});

test("a model of ours is the default here; another one stays an edit", () => {
  expect(config("model=gpt-5.5", 'model="scripted/demo"', "x=1")).toEqual({ model: "scripted/demo", edits: [{ keyPath: "model", value: "gpt-5.5" }, { keyPath: "x", value: 1 }] });
});

test("of several models the last counts, whosever it is", () => {
  expect(config("model=scripted/demo", "model=gpt-5.5", "x=1").model).toBeNull();
  expect(config("model=gpt-5.5", "model=scripted/demo", "model=scripted/work").model).toBe("scripted/work");
});

test("Codex gets every word but a model of ours, in whatever form", () => {
  const words = ["-c", "a=1", "-c", "model=scripted/demo", "--config=model='scripted/demo'", "-cmodel=scripted/demo", "-c=model=gpt-5.5", "--analytics-default-enabled", "--new", "-c", "-c", "x"];
  expect(forCodex(words)).toEqual(["-c", "a=1", "-c=model=gpt-5.5", "--analytics-default-enabled", "--new", "-c", "-c", "x"]);
});
