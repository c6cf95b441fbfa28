import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readExecOutput } from "./index.ts";

const nothing = { text: "", exitCode: null, durationMs: null, backgroundId: null, state: null, error: null };
const item = (text: string): object => ({ type: "input_text", text });

describe("readExecOutput", () => {
  it("reads code-mode items: head, texts, images and the error", () => {
    expect(readExecOutput([item("Script completed\nWall time 0.1 seconds\nOutput:\n"), item("src/a.ts:1\n"), item("a"), item("b")])).toEqual({
      ...nothing,
      text: "src/a.ts:1\na\nb",
      durationMs: 100,
      state: "completed",
    });
    expect(readExecOutput([item("Script running with cell ID g3:1\nWall time 2.8 seconds\nOutput:\n"), item("early")])).toEqual({
      ...nothing,
      text: "early",
      durationMs: 2800,
      state: "running",
      backgroundId: "g3:1",
    });
    const failed = [item("Script failed\nWall time 0.0 seconds\nOutput:\n"), item("partial"), item("Script error:\nError: boom\n    at x:1:7")];
    expect(readExecOutput(failed)).toEqual({ ...nothing, text: "partial", durationMs: 0, state: "failed", error: "Error: boom\n    at x:1:7" });
    const image = { type: "input_image", image_url: "data:image/png;base64,AA==" };
    expect(readExecOutput([item("Script completed\nWall time 1.0 seconds\nOutput:\n"), image])).toMatchObject({ text: "", images: [image.image_url] });
  });

  it("reads a head that stands alone as a string", () => {
    expect(readExecOutput("Script completed\nWall time 0.0 seconds\nOutput:\n")).toEqual({ ...nothing, durationMs: 0, state: "completed" });
  });

  it("reads exec_command strings", () => {
    expect(readExecOutput("Chunk ID: b1128a\nWall time: 0.1284 seconds\nProcess exited with code 127\nOriginal token count: 13\nOutput:\nnot found\n")).toEqual({
      ...nothing,
      text: "not found\n",
      exitCode: 127,
      durationMs: 128,
      state: "failed",
    });
    expect(readExecOutput("Chunk ID: a\nWall time: 10.0000 seconds\nProcess running with session ID 42\nOutput:\n...")).toMatchObject({
      text: "...",
      exitCode: null,
      backgroundId: "42",
      state: "running",
    });
  });

  it("reads apply_patch strings, also inside a shell tool's head", () => {
    const patch = "Exit code: 0\nWall time: 0.4 seconds\nOutput:\nSuccess.\n";
    const read = { ...nothing, text: "Success.\n", exitCode: 0, durationMs: 400, state: "completed" };
    expect(readExecOutput(patch)).toEqual(read);
    expect(readExecOutput(`Wall time: 0.0000 seconds\nOutput:\n${patch}`)).toEqual(read);
  });

  it("reads the older JSON string", () => {
    expect(readExecOutput('{"output":"A hello.py\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}')).toEqual({
      ...nothing,
      text: "A hello.py\n",
      exitCode: 0,
      durationMs: 100,
      state: "completed",
    });
    for (const text of ['{"output":"x"}', '{"output":"x","metadata":{},"more":1}', '{"output":1,"metadata":{}}', '{"output":"x","metadata":{']) {
      expect(readExecOutput(text)).toEqual({ ...nothing, text });
    }
  });

  it("leaves the same words inside an output alone", () => {
    const head = "Chunk ID: a\nWall time: 1.0000 seconds\nProcess exited with code 0\nOutput:\n";
    const inner = "Wall time: 3 seconds\nProcess exited with code 9\nOutput:\nx\n";
    expect(readExecOutput(head + inner).text).toBe(inner);
    expect(readExecOutput(head + head).text).toBe(head);
    expect(readExecOutput(`log\n${head}`)).toEqual({ ...nothing, text: `log\n${head}` });
    expect(readExecOutput("Wall time: 3 seconds\nelapsed\nOutput:\n")).toEqual({ ...nothing, text: "Wall time: 3 seconds\nelapsed\nOutput:\n" });
    expect(readExecOutput("Output:\nx").text).toBe("Output:\nx");
    const scripts = [item("Script completed\nWall time 0.1 seconds\nOutput:\n"), item("Script failed\nWall time 0.1 seconds\nOutput:\n"), item("Script error:\nno")];
    expect(readExecOutput(scripts)).toMatchObject({ state: "completed", error: null, text: "Script failed\nWall time 0.1 seconds\nOutput:\nScript error:\nno" });
  });

  it("takes other shapes as they are", () => {
    expect(readExecOutput("aborted by user after 3.5s")).toEqual({ ...nothing, text: "aborted by user after 3.5s" });
    expect(readExecOutput(null)).toEqual(nothing);
    expect(readExecOutput({ content: "x", success: false })).toEqual({ ...nothing, text: "x", state: "failed" });
    expect(readExecOutput({ a: 1 })).toEqual({ ...nothing, text: '{"a":1}' });
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (output) => void readExecOutput(output)), { numRuns: 500 });
    const line = fc.constantFrom("Script completed", "Wall time 1 seconds", "Wall time: 1 seconds", "Exit code: 1", "Output:", "x", "", "Chunk ID: a");
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join("\n");
        expect(text.endsWith(readExecOutput(text).text)).toBe(true);
      }),
    );
  });
});
