import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { Redactor } from "./redact.ts";
import type { SdkWsClient } from "./sdk.ts";
import { adaptWsClient } from "./ws-adaptation.ts";

type Status = ReturnType<SdkWsClient["getConnectionStatus"]>;
type Callbacks = Parameters<ConnectionOptions["makeClient"]>[0];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function supervise(): { readonly connection: Connection; readonly clients: { readonly callbacks: Callbacks; status: Status; closed: boolean }[] } {
  const clients: { readonly callbacks: Callbacks; status: Status; closed: boolean }[] = [];
  const silent = (): void => undefined;
  const connection = new Connection({
    dispatch: { invoke: () => Promise.resolve(undefined) }, log: { error: silent, warn: silent, info: silent, debug: silent }, redactor: new Redactor(),
    retryFromMs: 1_000, retryToMs: 60_000, watchMs: 5_000, stuckMs: 45_000,
    makeClient: (callbacks) => {
      const client = { callbacks, status: { state: "connecting" } as Status, closed: false };
      clients.push(client);
      return { start: () => Promise.resolve(), close: () => void (client.closed = true), getConnectionStatus: () => client.status };
    },
  });
  return { connection, clients };
}

describe("the supervisor of the connection", () => {
  it("replaces a client that stands still without a socket", () => {
    const { connection, clients } = supervise();
    connection.open();
    clients[0]!.callbacks.onReady();
    clients[0]!.status = { state: "connected" };
    vi.advanceTimersByTime(600_000);
    clients[0]!.status = { state: "idle" };
    vi.advanceTimersByTime(60_000);
    expect([clients.length, clients[0]!.closed, connection.state.state]).toEqual([2, true, "connecting"]);
    clients[0]!.callbacks.onReady();
    expect(connection.state.state).toBe("connecting");
    connection.close();
  });

  it("leaves a client alone that has a next try ahead", () => {
    const { connection, clients } = supervise();
    connection.open();
    clients[0]!.status = { state: "reconnecting", nextConnectTime: Date.now() + 150_000 };
    vi.advanceTimersByTime(180_000);
    expect(clients).toHaveLength(1);
    vi.advanceTimersByTime(30_000);
    expect(clients.length).toBeGreaterThan(1);
    connection.close();
  });

  it("waits longer after each failure, up to a minute, and begins anew after a success", () => {
    const { connection, clients } = supervise();
    connection.open();
    const pauses: number[] = [];
    for (let index = 0; index < 9; index += 1) {
      clients.at(-1)!.callbacks.onError(new Error("too many connections"));
      pauses.push(connection.state.nextTryAtMs! - Date.now());
      vi.advanceTimersByTime(80_000);
    }
    expect(pauses[0]).toBeLessThan(1_300);
    expect(pauses.at(-1)).toBeGreaterThan(44_000);
    expect(Math.max(...pauses)).toBeLessThan(75_001);
    clients.at(-1)!.callbacks.onReady();
    clients.at(-1)!.callbacks.onError(new Error("again"));
    expect(connection.state.nextTryAtMs! - Date.now()).toBeLessThan(1_300);
    connection.close();
    vi.advanceTimersByTime(300_000);
    expect(connection.state.state).toBe("closed");
  });
});

describe("the times of the SDK's connection", () => {
  it("stay within bounds whatever the server says", () => {
    const times: Record<string, unknown> = {};
    const inside = { handleEventData: () => Promise.resolve(), wsConfig: { updateWs: (change: Record<string, unknown>) => void Object.assign(times, change) } };
    expect(adaptWsClient(inside as unknown as SdkWsClient, { timeoutMs: 10_000, capMs: 30_000 })).toEqual([]);
    expect(times).toEqual({ pingInterval: 30_000, reconnectNonce: 1_000, reconnectInterval: 5_000 });
    inside.wsConfig.updateWs({ pingInterval: 120_000, reconnectNonce: 30_000, reconnectInterval: 120_000, reconnectCount: -1 });
    expect(times).toEqual({ pingInterval: 30_000, reconnectNonce: 10_000, reconnectInterval: 30_000, reconnectCount: -1 });
    inside.wsConfig.updateWs({ pingInterval: 1_000, reconnectNonce: NaN, reconnectInterval: undefined });
    expect(times).toMatchObject({ pingInterval: 12_000, reconnectNonce: 1_000, reconnectInterval: 5_000 });
  });

  it("are left as they are, and that is said, where the SDK is not as known", () => {
    expect(adaptWsClient({} as SdkWsClient, { timeoutMs: 1, capMs: 1 })).toEqual(["card frames", "times"]);
  });
});
