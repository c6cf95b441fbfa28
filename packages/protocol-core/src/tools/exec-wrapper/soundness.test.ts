import { createContext, runInContext } from "node:vm";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readExecProgram } from "./index.ts";

interface Made {
  readonly name: string;
  readonly args: string | undefined;
}

// A generated program may leave an asynchronous call unawaited and let it throw. That ends a real run abnormally,
// so it is noted like any other throw, and is kept from the test runner, which would take it for a fault of the test.
let unawaitedThrows = 0;
const noteUnawaitedThrow = (): void => void (unawaitedThrows += 1);
const runnerListeners = process.listeners("unhandledRejection");
beforeAll(() => {
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", noteUnawaitedThrow);
});
afterAll(() => {
  process.off("unhandledRejection", noteUnawaitedThrow);
  for (const listener of runnerListeners) process.on("unhandledRejection", listener);
});

/** Lets every promise job that is due run, and Node report the rejections that nobody took. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Really runs a generated program, with tools that only note what they are given; `null` when anything is
 * thrown: such a run is not a normal one, even when the program catches it.
 */
async function record(program: string, exitCode: number): Promise<Made[] | null> {
  const made: Made[] = [];
  const run = { caught: false, ended: false, fuel: 50 };
  const context = createContext({
    note: (name: string, args: string | undefined) => {
      if (!run.ended) made.push({ name, args });
    },
    end: () => (run.ended = true),
    caught: () => (run.caught = true),
    // Ends programs that call themselves for ever; they throw and so are not compared.
    fuel: () => {
      run.fuel -= 1;
      if (run.fuel < 0) throw new Error("out of fuel");
    },
    exitCode,
  });
  const prelude = `
    const ENDED = {};
    const tool = (name) => async (input) => { note(name, JSON.stringify(input)); return { output: "o", exit_code: exitCode }; };
    globalThis.tools = { a: tool("a"), b: tool("b"), c: tool("c") };
    globalThis.exit = () => { end(); throw ENDED; };
    globalThis.swallow = (error) => { if (error !== ENDED) caught(); };
    globalThis.text = () => {};
    for (const name of "pqrstuvw") globalThis[name] = Object.assign(() => ({}), { x: {}, cmd: "g", push() {}, a() {}, 0() {} });
  `;
  const script = `(async () => { "use strict"; ${prelude}
    try { await (async () => {\n${program}\n})(); return true; } catch (error) { return error === ENDED; } })()`;
  const thrownBefore = unawaitedThrows;
  try {
    const normal = (await runInContext(script, context, { timeout: 1_000 })) === true;
    await settled();
    return normal && !run.caught && unawaitedThrows === thrownBefore ? made : null;
  } catch {
    return null;
  }
}

const NAMES = ["p", "q", "r", "s", "t", "u", "v", "w"];
const KEYS = ["cmd", "dir", "x"];

const { statement } = fc.letrec<{ expression: string; statement: string; block: string; call: string }>((tie) => {
  const name = fc.constantFrom(...NAMES);
  const key = fc.constantFrom(...KEYS);
  const literal = fc.constantFrom('"ls"', "1", "null", "undefined", "true", '""', "-0", "`t`", "/x/");
  const expression = fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    literal,
    name,
    fc.tuple(name, key).map(([object, property]) => `${object}.${property}`),
    fc.tuple(name, key).map(([object, property]) => `${object}?.${property}`),
    fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie("expression"), fc.constantFrom("&&", "||", "??"), tie("expression")).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie("expression"), tie("expression"), tie("expression")).map((parts) => `(${parts[0]} ? ${parts[1]} : ${parts[2]})`),
    fc.tuple(key, tie("expression"), tie("expression")).map(([k, a, b]) => `{ ${k}: ${a}, ...${b}, y: ${a} }`),
    fc.tuple(key, tie("expression")).map(([k, a]) => `({ ${k}: ${a} })`),
    fc.tuple(key, tie("expression")).map(([k, a]) => `({ get ${k}() { return ${a} }, __proto__: { ${k}: 1 } })`),
    fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `[${a}, ${b}]`),
    fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `[${names.join(", ")}].join("-")`),
    tie("expression").map((a) => `\`\${${a}}!\``),
    tie("expression").map((a) => `JSON.stringify(${a})`),
    tie("expression").map((a) => `(text(${a}), ${a})`),
    tie("expression").map((a) => `() => (fuel(), ${a})`),
    fc.constantFrom("tools", "tools.a", "tools.b.bind(null)", "{ ...tools }", "[tools.a, tools.b]"),
    tie("call"),
  );
  const callee = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("tools.a", "tools.b", "tools.c", 'tools["a"]', "tools?.b", "tools.c?.", "globalThis.tools.a", "(0, tools.b)") },
    name,
    name.map((object) => `${object}.a`),
    name.map((object) => `${object}[0]`),
    name.map((object) => `tools[${object}]`),
  );
  const call = fc.oneof(
    fc.tuple(callee, tie("expression")).map(([f, a]) => `${f}(${a})`),
    fc.tuple(callee, tie("expression")).map(([f, a]) => `await ${f}(${a})`),
    callee.map((f) => `await ${f}()`),
    fc.tuple(callee, tie("expression")).map(([f, a]) => `await ${f}(...[${a}])`),
    fc.tuple(callee, tie("expression")).map(([f, a]) => `await ${f}.call(null, ${a})`),
    fc.tuple(callee, tie("expression")).map(([f, a]) => `await ${f}.apply(null, [${a}])`),
    fc.tuple(callee, tie("expression")).map(([f, a]) => `await Promise.all([${f}(${a}), tools.a(1)])`),
    fc.tuple(callee, tie("expression")).map(([f, a]) => `(await ${f}(${a})).exit_code`),
    fc.tuple(callee, tie("expression")).map(([f, a]) => `[${a}, 1].map((m) => (fuel(), ${f}(m)))`),
    tie("block").map((body) => `await (async () => ${body})()`),
    tie("block").map((body) => `(() => { fuel(); ${body} })`),
    tie("block").map((body) => `(function () { fuel(); ${body} })()`),
  );
  const block = fc.array(tie("statement"), { maxLength: 3 }).map((body) => `{ ${body.join("; ")} }`);
  const declare = fc.constantFrom("const", "let", "var");
  const body = fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 12, arbitrary: call },
    { weight: 8, arbitrary: fc.tuple(declare, name, tie("expression")).map(([kind, n, a]) => `${kind} ${n} = ${a}`) },
    fc.tuple(declare, name, name, tie("expression")).map(([kind, n, m, a]) => `${kind} { x: ${n} = 1, ...${m} } = ${a}`),
    fc.tuple(declare, name, key, tie("expression")).map(([kind, n, k, a]) => `${kind} { ${k}: ${n} } = ${a}`),
    fc.tuple(declare, name, tie("expression")).map(([kind, n, a]) => `${kind} [${n}] = [${a}]`),
    fc.tuple(name, fc.constantFrom("=", "+=", "||=", "??="), tie("expression")).map(([n, op, a]) => `${n} ${op} ${a}`),
    fc.tuple(name, key, tie("expression")).map(([n, k, a]) => `${n}.${k} = ${a}`),
    fc.tuple(name, key).map(([n, k]) => `delete ${n}.${k}`),
    fc.tuple(name, tie("expression")).map(([n, a]) => `${n}.push(${a})`),
    fc.tuple(name, tie("expression")).map(([n, a]) => `Object.assign(${n}, ${a})`),
    fc.tuple(name, tie("expression")).map(([n, a]) => `[${n}.x, { k: ${n} }.k] = [${a}, 2]`),
    fc.tuple(tie("expression"), tie("block"), tie("block")).map(([a, t, e]) => `if (${a}) ${t} else ${e}`),
    fc.tuple(name, tie("expression"), tie("block")).map(([n, a, b]) => `for (const ${n} of [${a}]) ${b}`),
    tie("block").map((b) => `for (let i = 0; i < 2; i++) ${b}`),
    fc.tuple(tie("block"), tie("block")).map(([t, c]) => `try ${t} catch (p) { swallow(p); ${c} }`),
    fc.tuple(tie("block"), tie("block")).map(([t, c]) => `try ${t} finally ${c}`),
    fc.tuple(tie("expression"), tie("block")).map(([a, b]) => `switch (${a}) { case 1: ${b} break; default: ${b} }`),
    fc.tuple(name, name, tie("block")).map(([f, parameter, b]) => `async function ${f}(${parameter}) { try { fuel(); ${b} } catch (e) { swallow(e) } }`),
    fc.tuple(name, tie("expression")).map(([f, a]) => `${f}(${a})`),
    tie("block"),
    tie("block").map((b) => `l: { ${b}; if (q) break l; ${b} }`),
    fc.constantFrom("exit()", "if (exit_) exit()", 'throw new Error("x")', "tools.a = () => 1", "Object.prototype.toJSON = () => 7"),
    fc.constantFrom('String.prototype.trim = () => "t"', "Array.prototype.join = () => 9", "delete tools.b", "class p { static { tools.a(1) } }"),
  );
  return { expression, statement: body, block, call };
});

const program = fc
  .array(statement, { minLength: 1, maxLength: 7 })
  .map((statements) => `const exit_ = 0;\n${statements.join(";\n")};`);

describe("soundness", () => {
  it("reports as resolved only what a real run does, once and in order", async () => {
    let compared = 0;
    let resolved = 0;
    await fc.assert(
      fc.asyncProperty(program, async (source) => {
        const read = readExecProgram(source);
        if (read.error !== undefined) return;
        for (const exitCode of [0, 1]) {
          const made = await record(source, exitCode);
          if (made === null) continue;
          compared += 1;
          const certain = read.calls.filter((call) => call.status === "resolved");
          resolved += certain.length;
          const wanted = certain.map((call) => ({ name: call.name, args: JSON.stringify(call.args) }));
          // Asynchronous functions may be overtaken, so the certain calls are compared as a part of all calls.
          const rest = made.map((call) => JSON.stringify(call));
          for (const call of wanted) {
            const at = rest.indexOf(JSON.stringify(call));
            expect(at, `${JSON.stringify(call)} of ${JSON.stringify(made)} in:\n${source}`).not.toBe(-1);
            rest.splice(at, 1);
          }
          if (read.calls.every((call) => call.status === "resolved")) {
            expect(rest, `more calls than read in:\n${source}`).toEqual([]);
          }
        }
      }),
      // One seed by default, so that the check of a change does not hang on luck; `FUZZ_RUNS=20000` searches anew.
      process.env["FUZZ_RUNS"] === undefined ? { numRuns: 150, seed: 20_261_130 } : { numRuns: Number(process.env["FUZZ_RUNS"]) },
    );
    expect(compared).toBeGreaterThan(20);
    expect(resolved).toBeGreaterThan(5);
  }, 900_000);
});
