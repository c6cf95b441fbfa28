import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { ClientTerminals } from "./client-terminals.ts";

const never = new AbortController().signal;
let said = "";
const terminals = new ClientTerminals({ cwd: tmpdir(), env: { PATH: process.env["PATH"] }, onOutput: (_id, append) => (said += append) });
afterEach(async () => {
  await terminals.close();
  said = "";
});

describe("terminals of an agent", () => {
  it("run a line for the shell or a program, with their variables and folder", async () => {
    const line = terminals.create({ command: "echo $WORD && pwd; exit 3", env: [{ name: "WORD", value: "hi" }], cwd: "/" });
    expect(await terminals.waitForExit(line, never)).toEqual({ exitCode: 3, signal: null });
    expect(terminals.output(line)).toEqual({ output: "hi\n/\n", truncated: false, exitStatus: { exitCode: 3, signal: null } });
    expect([said, terminals.state(line.terminalId)]).toEqual(["hi\n/\n", { output: "hi\n/\n", exitCode: 3 }]);
    const program = terminals.create({ command: "echo", args: ["$WORD"] });
    await terminals.waitForExit(program, never);
    expect(terminals.output(program)).toMatchObject({ output: "$WORD\n" });
  });

  it("keep the end of their output", async () => {
    const made = terminals.create({ command: "printf 0123456789", outputByteLimit: 4 });
    await terminals.waitForExit(made, never);
    expect(terminals.output(made)).toMatchObject({ output: "6789", truncated: true });
    expect(said).toBe("0123456789");
  });

  it("are ended with all that they started, and stay known", async () => {
    const made = terminals.create({ command: "echo begun; sleep 30 & sleep 30" });
    while (said === "") await new Promise((resolve) => setTimeout(resolve, 5));
    expect(terminals.output(made)).toEqual({ output: "begun\n", truncated: false });
    terminals.kill(made);
    expect(await terminals.waitForExit(made, never)).toMatchObject({ exitCode: null, signal: "SIGTERM" });
    expect(terminals.release(made)).toEqual({});
    expect(terminals.state(made.terminalId)?.output).toBe("begun\n");
  });

  it("say what cannot be started, and refuse what is not there", async () => {
    const made = terminals.create({ command: "no-such-program-anywhere", args: [] });
    expect(await terminals.waitForExit(made, never)).toMatchObject({ exitCode: 127 });
    expect(terminals.output(made)).toMatchObject({ output: expect.stringContaining("ENOENT") });
    expect(() => terminals.create({})).toThrow("no command");
    expect(() => terminals.output({ terminalId: "t" })).toThrow("no terminal t");
  });

  it("let a wait that is taken back go", async () => {
    const taken = new AbortController();
    const waiting = terminals.waitForExit(terminals.create({ command: "sleep 30" }), taken.signal);
    taken.abort();
    await expect(waiting).rejects.toThrow("taken back");
  });
});
