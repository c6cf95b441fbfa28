import { RequestError } from "@agentclientprotocol/sdk";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorOf, exitError } from "./errors.ts";
import { findProgram } from "../programs.ts";
import { withoutSecrets } from "../secrets.ts";

describe("failures", () => {
  it("of a request keep the agent's words, which may be in the data", () => {
    expect(errorOf(new RequestError(-32603, "Internal error", { details: "the model said no" }))).toMatchObject({ message: "Internal error: the model said no", code: "other" });
    expect(errorOf(new RequestError(-32603, "It broke", "in pieces"))).toEqual({ message: "It broke", code: "other", details: "in pieces" });
    expect(errorOf("just words")).toEqual({ message: "just words", code: "other", details: null });
  });

  it("are named by the status that the agent gives", () => {
    const code = (status: unknown, number = -32603) => errorOf(new RequestError(number, "x", { http_status: status })).code;
    expect(code(401)).toEqual({ httpConnectionFailed: { httpStatusCode: 401 } });
    expect(code(429)).toEqual({ responseTooManyFailedAttempts: { httpStatusCode: 429 } });
    expect(code(503)).toBe("internalServerError");
    expect(code(undefined, -32000)).toEqual({ httpConnectionFailed: { httpStatusCode: 401 } });
    expect(errorOf(new RequestError(400, "bad")).code).toBe("other");
  });

  it("of the program say how it ended and its last words, without secrets", () => {
    const stderr = `${Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n")}\ntoken is abcdefgh12345\n`;
    const error = exitError("The agent", { code: 7, signal: null, stderr }, { MY_TOKEN: "abcdefgh12345" });
    expect(error.message).toBe("The agent ended unexpectedly (exit code 7): token is [redacted]");
    expect(error.details?.split("\n")).toEqual([...Array.from({ length: 7 }, (_, index) => `line ${index + 13}`), "token is [redacted]"]);
    expect(exitError("The agent", { code: null, signal: "SIGKILL", stderr: "" }, {})).toEqual({ message: "The agent ended unexpectedly (signal SIGKILL).", details: null });
  });
});

describe("secrets", () => {
  it("are removed by their looks and by the variables that hold them, and words stay", () => {
    expect(withoutSecrets("use sk-abcdefghij or Bearer abc.def123 at https://me:pass@host/x", {})).toBe("use [redacted] or Bearer [redacted] at https://me:[redacted]@host/x");
    expect(withoutSecrets("the password is short, longlonglong", { PASSWORD: "short", API_KEY: "longlonglong", HOME: "the password" })).toBe("the password is short, [redacted]");
  });
});

describe("a program", () => {
  it("is found as a shell finds it, and only where it can be run", async () => {
    const folder = mkdtempSync(join(tmpdir(), "acp-programs-"));
    mkdirSync(join(folder, "one", "tool"), { recursive: true });
    mkdirSync(join(folder, "two"));
    writeFileSync(join(folder, "two", "tool"), "");
    const env = { PATH: `${folder}/one:${folder}/two:relative` };
    expect(await findProgram("tool", env)).toBeNull();
    chmodSync(join(folder, "two", "tool"), 0o755);
    expect(await findProgram("tool", env)).toBe(join(folder, "two", "tool"));
    expect(await findProgram(join(folder, "two", "tool"), {})).toBe(join(folder, "two", "tool"));
    expect(await findProgram("tool", {})).toBeNull();
    rmSync(folder, { recursive: true });
  });
});
