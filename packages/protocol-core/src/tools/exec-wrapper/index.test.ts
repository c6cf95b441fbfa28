import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ExecCall, formatTopLevelStatements, readExecProgram, summarizeExec } from "./index.ts";

/** Calls in short: `name {"args"}`, and `name ?reason` for those that are not certain. */
function read(source: string): string[] {
  return readExecProgram(source).calls.map((call: ExecCall) => {
    if (call.status === "unresolved") return `${call.name ?? "*"} ?${call.reason}`;
    return "args" in call ? `${call.name} ${JSON.stringify(call.args)}` : call.name;
  });
}

describe("readExecProgram", () => {
  it.each<[string, string, string[]]>([
    ["constants and templates", "const d = '/r', n = 2; await tools.x({c: `ls ${d} ${n + 1}`})", ['x {"c":"ls /r 3"}']],
    ["spreads in order", "const b = {a: 1, c: 2}; await tools.x({c: 0, ...b, a: 3}); await tools.x([...[1], 2])", ['x {"c":2,"a":3}', "x [1,2]"]],
    ["destructuring with defaults and rest", "const {a, b: [c = 5], ...r} = {a: 1, b: [], z: 9}; await tools.x({a, c, r})", ['x {"a":1,"c":5,"r":{"z":9}}']],
    ["text methods", "await tools.x(['a', 'b'].join(' ').toUpperCase().padEnd(5, '.') + 'x'.repeat(2) + 'a-b'.replaceAll('-', '+'))", ['x "A B..xxa+b"']],
    ["JSON.stringify", "await tools.x({c: JSON.stringify({a: [1, undefined], f() {}})})", ['x {"c":"{\\"a\\":[1,null]}"}']],
    ["String.raw", "await tools.x(String.raw`\\d${1}`)", ['x "\\\\d1"']],
    ["aliases", "const {x: run, ...more} = tools; const t = globalThis.tools; const f = t.y.bind(t); await run(1); await f(2); await more.z(3)", ["x 1", "y 2", "z 3"]],
    ["tools in objects and lists", "const o = {...tools, run: tools.x, all: [tools.y]}; await o.run(1); await o.all[0](2); await o.z(3)", ["x 1", "y 2", "z 3"]],
    ["call and apply", "await tools.x.call(null, 1, 2); await tools.y.apply(null, [3])", ["x 1", "y 3"]],
    ["spread arguments", "await tools.x(...[1, 2]); await tools.y(...rest)", ["x 1", "y ?dynamic-args"]],
    ["no or undefined argument", "await tools.x(); await tools.y(undefined); await tools.z(() => 1)", ["x", "y", "z"]],
    ["tagged template", "await tools.x`a${1}b`", ['x ["a","b"]']],
    ["nested calls, inner first", "await tools.x({c: (await tools.y(1)).output})", ["y 1", "x ?dynamic-args"]],
    ["awaited inline function", "await (async () => { await tools.x(1); if (q) return; await tools.y(2) })(); await tools.z(3)", ["x 1", "y ?after-exit", "z 3"]],
    ["inline function nobody waits for", "(async () => { await f(); await tools.x(1) })()", ["x ?callback"]],
    ["static class parts", "class A { static { tools.x(1) } static p = tools.y(2); q = tools.z(3); m() { tools.w(4) } }", ["x 1", "y 2", "z ?callback", "w ?callback"]],
    ["own __proto__ keys", "await tools.x({['__proto__']: {a: 1}, b: 2}); await tools.x({__proto__: {a: 1}, b: 2})", ['x {"__proto__":{"a":1},"b":2}', 'x {"b":2}']],
  ])("reads %s", (_name, source, calls) => {
    expect(read(source)).toEqual(calls);
  });

  it.each<[string, string, string[]]>([
    ["loops", "for (const a of [await tools.x(1)]) await tools.y(a); while (await tools.z(1)) {}", ["x 1", "y ?loop", "z ?loop"]],
    ["branches", "if (await tools.x(1)) await tools.y(2); q ? tools.z(3) : 0; q?.[tools.w(4)]", ["x 1", "y ?conditional", "z ?conditional", "w ?conditional"]],
    ["functions", "const f = () => tools.x(1); f(); [1].map(tools.y)", ["x ?callback", "y ?indirect"]],
    ["catch but not finally", "try { await tools.x(1) } catch { await tools.y(2) } finally { await tools.z(3) }", ["x 1", "y ?conditional", "z 3"]],
    ["what follows a possible end", "if (q) exit(); await tools.x(1)", ["x ?after-exit"]],
    ["what follows a possible throw", "if (q) throw 1; await tools.x(1)", ["x ?after-exit"]],
    ["what follows a function that ends", "if (q) stop(); await tools.x(1); function stop() { exit() }", ["x ?after-exit"]],
    ["labelled exits", "l: { if (q) break l; await tools.x(1) } await tools.y(2)", ["x ?after-exit", "y 2"]],
    ["optional calls", "await tools.x?.(1); await tools?.y(2)", ["x ?conditional", "y 2"]],
    ["reassigned names", "let a = 1; a = 2; await tools.x(a)", ["x ?dynamic-args"]],
    ["names used too early", "await tools.x({a}); var a = 1", ["x ?dynamic-args"]],
    ["names of inner blocks", "if (q) { var a = 1 } await tools.x(a)", ["x ?dynamic-args"]],
    ["changed objects", "const o = {l: []}; const {l} = o; l.push(1); await tools.x(o)", ["x ?dynamic-args"]],
    ["objects given away", "const o = {a: 1}; f(o); await tools.x(o)", ["x ?dynamic-args"]],
    ["objects chosen and changed", "const o = {a: 1}; const p = q ? o : {}; p.a = 2; await tools.x(o)", ["x ?dynamic-args"]],
    ["getters and toJSON", "await tools.x({get a() { return 1 }}); await tools.x({toJSON() { return 1 }}); await tools.x({__proto__: {toJSON: f}})", ["x ?getter", "x ?dynamic-args", "x ?dynamic-args"]],
    ["unknown spreads", "await tools.x({a: 1, ...q, b: 2})", ["x ?dynamic-args"]],
    ["big integers", "await tools.x({a: 1n}); await tools.x(`${2n ** 99999999n}`)", ["x ?dynamic-args", "x ?dynamic-args"]],
    ["replaced tools", "tools.x = f; await tools.x(1); await tools.y(2)", ["x ?tampered", "y 2"]],
    ["replaced tools by assign", "Object.assign(tools, {x: f}); await tools.x(1)", ["x ?tampered"]],
    ["replaced built-ins", "Array.prototype.join = f; await tools.x(['a'].join('')); await tools.y({c: 1})", ["x ?tampered", 'y {"c":1}']],
    ["a toJSON for all", "Object.prototype.toJSON = f; await tools.x({a: 1})", ["x ?tampered"]],
    ["prototypes reached through values", "''.__proto__.trim = f; await tools.x(' a '.trim())", ["x ?tampered"]],
    ["text that is run", "eval(q); await tools.x(1)", ["x ?eval"]],
    ["tools handed to helpers", "const go = (t, c) => t.exec_command({c}); await go(tools, 1)", ["exec_command ?callback"]],
    ["tools kept in variables", "let t; t = tools; await t.x(1); let f = q; f = tools.x; await f(2)", ["x ?indirect", "* ?dynamic-name"]],
    ["chosen tools", "await (q ? tools.x : tools.y)(1); await tools[q](2)", ["* ?dynamic-name", "* ?dynamic-name"]],
  ])("leaves open: %s", (_name, source, calls) => {
    expect(read(source)).toEqual(calls);
  });

  it.each<[string, string]>([
    ["shadowed tools", "const tools = {x() {}}; tools.x(1)"],
    ["members of every object", "tools.hasOwnProperty('x'); tools.constructor(1); tools.toString()"],
    ["text that looks like a call", "text('tools.x(1)'); // tools.x(1)"],
    ["methods of results", "const r = await f(); r.trim().split('').map(g)"],
  ])("finds no call in %s", (_name, source) => {
    expect(read(source)).toEqual([]);
  });

  it("keeps what is known of an open call", () => {
    expect(readExecProgram("if (q) await tools.x({a: 1, b: q, c: [q], d: {e: 2}})").calls).toEqual([
      { name: "x", status: "unresolved", reason: "conditional", known: { a: 1, d: { e: 2 } } },
    ]);
  });

  it("builds arguments from own data only", () => {
    const [call] = readExecProgram("await tools.x({['__proto__']: {polluted: 1}, constructor: 2})").calls;
    const args = call?.status === "resolved" ? (call.args as Record<string, unknown>) : {};
    expect(Object.keys(args)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("reads the pragma of the first line, and refuses a wrong one as the runtime does", () => {
    const program = '  // @exec: {"yield_time_ms": 5, "max_output_tokens": 7}\nawait tools.x(1)';
    expect(readExecProgram(program)).toEqual({
      pragma: { yield_time_ms: 5, max_output_tokens: 7 },
      calls: [{ name: "x", status: "resolved", args: 1 }],
    });
    for (const head of ['{"a": 1}', "no", "[]", '{"yield_time_ms": -1}', '{"yield_time_ms": 0.5}', '{"yield_time_ms": 1e3}', "null", ""]) {
      const refused = readExecProgram(`// @exec: ${head}\nawait tools.x(1)`);
      expect(refused.calls).toEqual([]);
      expect(refused.error).toBeDefined();
    }
    expect(readExecProgram('// @exec: {"yield_time_ms": 5}').error).toBeDefined();
    expect(read("//@exec: no\nawait tools.x(1)")).toEqual(["x 1"]);
    expect(read("\n// @exec: no\nawait tools.x(1)")).toEqual(["x 1"]);
  });

  it("gives an error and no calls for what does not parse", () => {
    for (const source of ["", " \n", "await tools.x({", "return tools.x()", "const a = 1; const a = 2; tools.x()", "let x: string"]) {
      const program = readExecProgram(source);
      expect(program.error?.message).toBeTruthy();
      expect(program.calls).toEqual([]);
    }
  });
});

describe("bounds", () => {
  const fragment = fc.constantFrom(
    ..."tools . x ( ) { } [ ] , ; = => + ` ${ \" ' \\ / * await async function class if for const let var a b 1 ... ? ?. : __proto__ get exit eval #! \n".split(" "),
  );

  it("never throws, on any text", () => {
    const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join(" ")));
    fc.assert(
      fc.property(anyText, (source) => {
        for (const program of [source, `await tools.x({a: ${source}})`, `// @exec:${source}`]) {
          summarizeExec(readExecProgram(program));
          formatTopLevelStatements(program);
        }
      }),
      { numRuns: 300 },
    );
  });

  const recorded = new URL("../../../../../../shared/data/commands/exec-cases-dev.jsonl", import.meta.url);
  it.skipIf(!existsSync(recorded))("never throws, on damaged real programs", () => {
    const programs = readFileSync(recorded, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as { program: string }).program)
      .filter((source) => source.length < 1_000);
    fc.assert(
      fc.property(fc.constantFrom(...programs), fc.nat(1_000), fc.nat(20), fragment, (source, at, length, insert) => {
        readExecProgram(source.slice(0, at) + insert + source.slice(at + length));
      }),
      { numRuns: 250 },
    );
  });

  it("keeps its own limits", () => {
    expect(readExecProgram("await tools.x(1)", { maxSourceLength: 5 }).error?.message).toBe("program too long");
    expect(readExecProgram("await tools.x(1)", { maxNodes: 3 }).error?.message).toBe("program too large");
    expect(readExecProgram("await tools.x('a'.repeat(9))", { maxStringLength: 8 }).calls[0]).toMatchObject({ reason: "limit" });
    expect(readExecProgram("const a = [1, 2]; await tools.x([...a, ...a])", { maxSteps: 3 }).calls[0]).toMatchObject({ reason: "limit" });
    expect(readExecProgram("const a = [1, 2]; await tools.x([...a, ...a])", { maxSteps: 4 }).calls[0]).toMatchObject({ status: "resolved" });
  });

  it.each<[string, string]>([
    ["doubling strings", `${Array.from({ length: 60 }, (_, i) => `const a${i + 1} = a${i} + a${i};`).join("")}await tools.x(a60)`.replace("a0 + a0", "'ab'")],
    ["doubling objects", `const o0 = {};${Array.from({ length: 60 }, (_, i) => `const o${i + 1} = {l: o${i}, r: o${i}};`).join("")}await tools.x(o60)`],
    ["huge repeats", "await tools.x(['a'.repeat(1e9), 'a'.padEnd(1e9), 'ab'.repeat(1e6).split('').join('-'.repeat(1e6))])"],
    ["itself", "const a = {b: a}; const c = c + d, d = c; await tools.x([a, c])"],
  ])("calls a value too large or circular open: %s", (_name, source) => {
    expect(readExecProgram(source).calls).toMatchObject([{ name: "x", status: "unresolved" }]);
  });

  it.each(["[", "(", "{", "{a:", "!", "a=>", "async()=>", "if(a)", "x?", "new ", "await ", "f(", "class A{static{", "`${", "-"])(
    "survives deep nesting of %j",
    (part) => {
      expect(readExecProgram(part.repeat(20_000)).calls).toEqual([]);
    },
  );

  it.each<[string, (n: number) => string]>([
    ["statements", (n) => "await tools.x({cmd: 'ls'});\n".repeat(n)],
    ["declarations", (n) => Array.from({ length: n }, (_, i) => `const a${i} = {x: "v" + ${i}};`).join("")],
    ["names of names", (n) => `const a0 = 1;${Array.from({ length: n }, (_, i) => `const a${i + 1} = a${i};`).join("")}await tools.x(a${n})`],
    ["operators", (n) => `await tools.x(${Array.from({ length: n }, () => "'a'").join("+")})`],
    ["choices", (n) => `const a = ${Array.from({ length: n }, () => "b").join("||")}`],
    ["calls of calls", (n) => `tools.x()${".then(f)".repeat(n)}`],
    ["one shared object", (n) => `const o = {${Array.from({ length: 200 }, (_, i) => `k${i}: 1`).join()}};${"await tools.x(o);".repeat(n)}`],
    ["one changed list", (n) => `const a = [];${"a.push(1);".repeat(n)}await tools.x(a)`],
  ])("is done with very many %s", (_name, make) => {
    // Growth with the square of the number would take minutes: the limit of the test is the measure.
    expect(readExecProgram(make(16_000)).error).toBeUndefined();
  });

  it("reads arguments as large and as deep as a program may write them", () => {
    const list = Array.from({ length: 150_000 }, () => "1").join();
    expect(readExecProgram(`await tools.x([${list}])`).calls).toMatchObject([{ status: "resolved" }]);
    expect(readExecProgram(`await tools.x(${"[".repeat(300)}${"]".repeat(300)})`).calls).toMatchObject([{ status: "resolved" }]);
  });

  it("reads all of a long operator chain", () => {
    expect(read(`await tools.x(${Array.from({ length: 20_000 }, () => "1").join("+")})`)).toEqual(["x 20000"]);
  });
});

describe("summarizeExec", () => {
  it("stands for the only certain call, lists several, and gives up when none is certain", () => {
    const kindOf = (source: string): string => summarizeExec(readExecProgram(source)).kind;
    expect(summarizeExec(readExecProgram("await tools.x(1)"))).toEqual({ kind: "single", call: { name: "x", status: "resolved", args: 1 } });
    expect(kindOf("await tools.x(1); await tools.y(q)")).toBe("several");
    expect(kindOf("await tools.x(q); await tools.y(q)")).toBe("unresolved");
    expect(kindOf("text(1)")).toBe("unresolved");
    expect(kindOf("(")).toBe("unresolved");
  });
});

describe("formatTopLevelStatements", () => {
  it("puts each statement and comment on its own line and keeps what is inside them", () => {
    expect(formatTopLevelStatements("const a = `x\ny`; /* c */ f(a); ;if (a) { b(); c() } // end")).toBe(
      "const a = `x\ny`;\n/* c */\nf(a);\nif (a) { b(); c() }\n// end",
    );
  });

  it("gives back what does not parse", () => {
    expect(formatTopLevelStatements("a b;\nc")).toBe("a b;\nc");
    expect(formatTopLevelStatements("")).toBe("");
  });
});
