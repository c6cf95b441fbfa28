import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { AcpConnection } from "./connection.ts";

function start(script: string, startPatienceMs = 10_000): Promise<AcpConnection> {
  return AcpConnection.start({
    name: "The agent", command: ["sh", "-c", script], cwd: tmpdir(), env: process.env, startPatienceMs,
    log: () => undefined, onNotification: () => undefined, onRequest: {}, onEnd: () => undefined,
  });
}

it("a program that stops to read before it ends is told by its end and its last words", async () => {
  await expect(start("exec 0<&-; sleep 0.1; echo 'there is no such model' >&2; exit 3")).rejects.toThrow("The agent ended unexpectedly (exit code 3): there is no such model");
});

it("a program that says nothing is given up, and ended", async () => {
  await expect(start("exec sleep 30", 50)).rejects.toThrow("The agent gave no answer to initialize within 0.05 seconds.");
});

it("a program's own refusal is told in its words", async () => {
  await expect(start("read line; echo '{\"id\":0,\"error\":{\"code\":-32603,\"message\":\"too old\"}}'; cat >/dev/null")).rejects.toThrow("too old");
});
