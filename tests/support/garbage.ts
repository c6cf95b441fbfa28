import { randomBytes } from "node:crypto";
import { WebSocket } from "ws";
import { sleep } from "./wait.ts";

export interface GarbageReport {
  frames: number;
  /** Error answers that came back. */
  answers: number;
  connections: number;
}

const METHODS = [
  "initialize", "thread/start", "thread/resume", "thread/read", "thread/list", "thread/fork", "thread/name/set", "thread/queue/add", "thread/turns/list", "thread/items/list",
  "turn/start", "turn/steer", "turn/interrupt", "config/value/write", "config/batchWrite", "model/list", "thread/search", "thread/metadata/update", "threadSection/create",
];
const VALUES: readonly unknown[] = [null, 5, -1, 1.5, 1e400, true, "", "x".repeat(1_000), [], [[[]]], {}, { type: "x" }, { __proto__: null, constructor: 1 }, "\u0000\ud800", "../../etc/passwd"];

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;
const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

/** One bad message: bytes, half JSON, JSON of the wrong shape, or a request with the wrong types in it. */
function bad(threadId: string): string | Buffer {
  switch (Math.floor(Math.random() * 9)) {
    case 0:
      return randomBytes(Math.floor(Math.random() * 2_000));
    case 1:
      return randomBytes(500).toString("latin1");
    case 2:
      return pick(["", "null", "[]", "{}", "5", '"x"', "{", '{"id":', '{"id":null,"method":"model/list"}', '[{"id":1,"method":"model/list"}]', '{"method":5}', '{"id":1}', '{"id":{},"result":1}']);
    case 3:
      return `{"id":1,"method":"thread/list","params":${deep(20_000)}}`;
    case 4:
      return JSON.stringify({ id: pick(VALUES), method: pick(METHODS), params: pick(VALUES) });
    case 5:
      return JSON.stringify({ id: 7, result: pick(VALUES), error: pick(VALUES) });
    case 6:
      return JSON.stringify({ id: 8, method: pick(METHODS), params: "x".repeat(200_000) });
    default:
      return JSON.stringify({
        id: Math.floor(Math.random() * 1e6), method: pick(METHODS),
        params: { threadId: pick([threadId, ...VALUES]), input: pick(VALUES), cwd: pick(VALUES), name: pick(VALUES), cursor: pick(VALUES), limit: pick(VALUES), model: pick(VALUES), turnId: pick(VALUES), keyPath: pick(VALUES), value: pick(VALUES) },
      });
  }
}

const FEWEST_FRAMES = 200;

/**
 * Sends nonsense for so many milliseconds, from a client that is initialized and one that never is; now and then a frame
 * that is larger than any server takes, after which it has to connect anew. Turns that it may start have no thread of
 * another client but `threadId`, whose id it uses with wrong members only.
 */
export async function garbage(url: string, threadId: string, ms: number): Promise<GarbageReport> {
  const report: GarbageReport = { frames: 0, answers: 0, connections: 0 };
  const end = Date.now() + ms;
  // A busy machine may need longer than that for the first of it.
  const goesOn = (): boolean => Date.now() < end || report.frames < FEWEST_FRAMES;
  const one = async (initialize: boolean): Promise<void> => {
    while (goesOn()) {
      const socket = new WebSocket(url, { perMessageDeflate: false });
      socket.on("error", () => undefined);
      socket.on("message", (data) => {
        if ((data as Buffer).toString("utf8", 0, 20).includes("error")) report.answers += 1;
      });
      await new Promise((resolve) => socket.once("open", resolve).once("close", resolve));
      report.connections += 1;
      if (initialize) socket.send(JSON.stringify({ id: 0, method: "initialize", params: { clientInfo: { name: "garbage", version: "1" }, capabilities: { experimentalApi: true } } }));
      while (goesOn() && socket.readyState === WebSocket.OPEN) {
        for (let at = 0; at < 20; at += 1, report.frames += 1) socket.send(bad(threadId));
        if (Math.random() < 0.002) socket.send("y".repeat(65 * 1024 * 1024));
        await sleep(5);
      }
      socket.terminate();
    }
  };
  await Promise.all([one(true), one(false)]);
  return report;
}
