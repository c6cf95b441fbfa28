import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../log/logger.ts";
import { Connection } from "./connection.ts";
import { frontPeer } from "./front.ts";
import { openLinesDoor } from "./local-door.ts";

test("a client's frame on several lines reaches the owner as one", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "foldcast-front-")), "lines.sock");
  const door = await openLinesDoor(path, (transport) => new Connection({
    transport, handler: { request: (_connection, method, params) => ({ method, params }), notification: () => undefined, answer: () => undefined }, log: silentLogger, now: () => 1,
  }), () => undefined);
  try {
    for (const as of [(text: string) => text, (text: string) => Buffer.from(text)]) {
      const answer = await new Promise<string>((resolve) => {
        const peer = frontPeer(path, null, {
          write: (frames, taken) => {
            taken();
            resolve(frames.map(({ text }) => text).join());
            peer.handleClosed();
          },
          terminate: () => resolve("terminated"),
        });
        peer.receive(as(JSON.stringify({ id: 1, method: "say", params: { text: "one\ntwo" } }, null, 2)));
      });
      expect(answer).toBe('{"id":1,"result":{"method":"say","params":{"text":"one\\ntwo"}}}');
    }
  } finally {
    await door.close();
  }
});
