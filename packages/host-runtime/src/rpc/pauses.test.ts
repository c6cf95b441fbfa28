import { expect, test } from "vitest";
import { silentLogger } from "../log/logger.ts";
import { Connection } from "./connection.ts";

test("a peer is read again only when everybody who paused it has resumed it", () => {
  const reads: string[] = [];
  const connection = new Connection({
    transport: { write: () => undefined, terminate: () => undefined, pause: () => reads.push("pause"), resume: () => reads.push("resume") },
    handler: { request: () => ({}), notification: () => undefined, answer: () => undefined },
    log: silentLogger, now: () => 1,
  });
  connection.pause();
  connection.pause();
  connection.resume();
  expect(reads).toEqual(["pause"]);
  connection.resume();
  expect(reads).toEqual(["pause", "resume"]);
});
