import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { Transport } from "./connection.ts";
import { WebSocketHost } from "./websocket.ts";

const BEAT_MS = 30_000;
const PATIENT = { timeout: 15_000, interval: 5 };
const beat = (): void => void vi.advanceTimersByTime(BEAT_MS);

let host: WebSocketHost;
let transport: Transport;
let heard: string[];
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  // The end of a client of the test before may come in the middle of this one.
  const own: string[] = [];
  heard = own;
  host = new WebSocketHost({ token: null, heartbeatMs: BEAT_MS, connect: (given) => {
    transport = given;
    return { receive: (frame) => void own.push(frame.toString()), handleClosed: () => void own.push("closed") };
  } });
  host.server.listen(0, "127.0.0.1");
  await once(host.server, "listening");
});
afterEach(async () => {
  await host.close();
  vi.useRealTimers();
});

async function join(autoPong: boolean): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${String((host.server.address() as AddressInfo).port)}`, { autoPong });
  await once(client, "open");
  return client;
}

test("a peer that says nothing from one ping to the next is gone", async () => {
  const client = await join(false);
  const pinged = once(client, "ping");
  beat();
  await pinged;
  const closed = once(client, "close");
  beat();
  await closed;
  await vi.waitFor(() => expect(heard).toEqual(["closed"]), PATIENT);
});

test("one that was not read meanwhile is given the time to be heard", async () => {
  const client = await join(true);
  const pinged = once(client, "ping");
  beat();
  transport.pause?.();
  await pinged;
  beat();
  transport.resume?.();
  beat();
  client.send("there");
  await vi.waitFor(() => expect(heard).toEqual(["there"]), PATIENT);
});

test("whatever it says counts, not the answer to a ping alone", async () => {
  const client = await join(false);
  for (const word of ["one", "two", "three"]) {
    beat();
    client.send(word);
    await vi.waitFor(() => expect(heard.at(-1)).toBe(word), PATIENT);
  }
});
