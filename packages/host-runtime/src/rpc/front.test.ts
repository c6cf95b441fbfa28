import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLogger } from "../log/logger.ts";
import { Connection } from "./connection.ts";
import type { Frame } from "./frame.ts";
import { frontPeer } from "./front.ts";
import type { Listener } from "./listen.ts";
import { openLinesDoor } from "./local-door.ts";
import { RawJson } from "./raw-json.ts";
import { MAX_FRAME_BYTES } from "./stdio.ts";

let path: string;
let door: Listener;
beforeEach(async () => {
  path = join(mkdtempSync(join(tmpdir(), "foldcast-front-")), "lines.sock");
  door = await openLinesDoor(path, (transport) => new Connection({
    transport, log: silentLogger, now: () => 1,
    handler: {
      request: (_connection, method, params) => (method === "long" ? new RawJson([Buffer.alloc(MAX_FRAME_BYTES, 0x20), Buffer.from("1")]) : { method, params }),
      notification: () => undefined, answer: () => undefined,
    },
  }), () => undefined);
});
afterEach(() => door.close());

/** The first frames that come back. */
function ask(frame: string | Buffer): Promise<readonly Frame[] | "terminated"> {
  return new Promise((resolve) => {
    const peer = frontPeer(path, null, {
      write: (frames, taken) => {
        taken();
        resolve(frames);
        peer.handleClosed();
      },
      terminate: () => resolve("terminated"),
    });
    peer.receive(frame);
  });
}

test("a client's frame on several lines reaches the owner as one", async () => {
  const frame = JSON.stringify({ id: 1, method: "say", params: { text: "one\ntwo" } }, null, 2);
  for (const each of [frame, Buffer.from(frame)]) {
    expect(await ask(each)).toMatchObject([{ text: '{"id":1,"result":{"method":"say","params":{"text":"one\\ntwo"}}}' }]);
  }
});

test("an answer may be longer than any question", async () => {
  expect(await ask('{"id":1,"method":"long"}')).toMatchObject([{ length: MAX_FRAME_BYTES + '{"id":1,"result":1}'.length }]);
});
