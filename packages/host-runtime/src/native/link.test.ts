import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { createServer as createPlainServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { openLink } from "./link.ts";
import type { Link, LinkEvents } from "./link.ts";

const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

async function serve(path: string, accept: (socket: WebSocket, url: string) => void): Promise<Server> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, raw, head) => sockets.handleUpgrade(request, raw, head, (socket) => accept(socket, request.url ?? "")));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  ended.push(() => {
    server.closeAllConnections();
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return server;
}

const somewhere = (name = "foldcast-link-"): string => join(mkdtempSync(join(tmpdir(), name)), "s");

function open(path: string, events: Partial<LinkEvents>): Link {
  const link = openLink(Promise.resolve(path), { opened: () => undefined, frame: () => undefined, closed: () => undefined, mayRest: () => false, ...events });
  ended.push(() => link.close());
  return link;
}

test("a socket is reached whatever its path holds", async () => {
  const path = somewhere("a b:%20\u00fc-");
  await serve(path, (socket, url) => socket.send(url));
  const said = await new Promise<string>((resolve) => {
    open(path, { frame: (bytes) => resolve(bytes.toString()), closed: resolve });
  });
  expect(said).toBe("/rpc");
});

test("a burst comes whole and in order also where it is read with rests, and what is sent meanwhile leaves", async () => {
  const path = somewhere();
  const heard: string[] = [];
  await serve(path, (socket) => {
    socket.on("message", (data) => {
      heard.push((data as Buffer).toString());
      let count = 0;
      const next = (): void => {
        socket.send(`${String(heard.length)}:${String(count++)}`);
        if (count < 300) setImmediate(next);
      };
      next();
    });
  });
  const got: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const link = open(path, {
      opened: () => link.send(Buffer.from("one")),
      mayRest: () => true,
      closed: (reason) => reject(new Error(reason)),
      frame: (bytes) => {
        got.push(bytes.toString());
        if (got.length === 300) link.send(Buffer.from("two"));
        if (got.length === 600) resolve();
      },
    });
  });
  expect(heard).toEqual(["one", "two"]);
  expect(got).toEqual([1, 2].flatMap((turn) => Array.from({ length: 300 }, (_, at) => `${String(turn)}:${String(at)}`)));
});

test("who is told to read no more does not, until it is told to go on", async () => {
  const path = somewhere();
  const server = { sent: 0 };
  await serve(path, (socket) => {
    const more = (): void => {
      // What nobody takes stays here.
      if (socket.readyState !== 1 || server.sent >= 64) return;
      server.sent++;
      socket.send(Buffer.alloc(256 * 1024, "x"), { binary: false }, more);
    };
    more();
  });
  let got = 0;
  let all: () => void = () => undefined;
  const link = open(path, {
    mayRest: () => true,
    frame: () => {
      got++;
      if (got === 2) link.pause();
      if (got === 64) all();
    },
  });
  // Nothing else can tell that it stands still.
  for (let still = 0, before = -1; still < 5 || got < 2; still = server.sent === before ? still + 1 : 0) {
    before = server.sent;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(server.sent).toBeLessThan(64);
  const done = new Promise<void>((resolve) => (all = resolve));
  link.resume();
  await done;
});

test("a ping is answered", async () => {
  const path = somewhere();
  const answered = new Promise<string>((resolve) => {
    void serve(path, (socket) => {
      socket.on("pong", (data) => resolve(data.toString()));
      socket.ping("there?");
    }).then(() => open(path, {}));
  });
  expect(await answered).toBe("there?");
});

test.each([
  ["a server that closes", (socket: WebSocket) => socket.close(), "the Codex app-server has closed the connection"],
  ["a server that breaks off", (socket: WebSocket) => socket.terminate(), "the Codex app-server has closed the connection"],
])("%s ends it once", async (_what, end, reason) => {
  const path = somewhere();
  await serve(path, end);
  const reasons: string[] = [];
  await new Promise<void>((resolve) => {
    open(path, { closed: (why) => (reasons.push(why), setTimeout(resolve, 50)) });
  });
  expect(reasons).toEqual([reason]);
});

test.each([
  ["HTTP/1.1 404 Not Found\r\n\r\n", "it refuses the connection: HTTP/1.1 404 Not Found"],
  ["HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: bm8=\r\n\r\n", "it refuses the connection: HTTP/1.1 101 Switching Protocols"],
  ["x".repeat(20_000), "it does not answer as a WebSocket"],
])("what is no WebSocket is a reason: %.20s", async (answer, reason) => {
  const path = somewhere();
  const server = createPlainServer((socket) => socket.on("error", () => undefined).write(answer));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  ended.push(() => server.close());
  expect(await new Promise((resolve) => void open(path, { closed: resolve }))).toBe(reason);
});

test.each([
  ["masked", Buffer.from([0x81, 0x85, 1, 2, 3, 4, 0, 0, 0, 0, 0]), "it masks what it says"],
  ["far too long", Buffer.from([0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0]), "it says 1099511627776 bytes at once"],
])("a frame that is %s ends it, and nothing is thrown", async (_what, bytes, reason) => {
  const path = somewhere();
  const server = await serve(path, () => undefined);
  server.on("upgrade", (_request, raw) => setImmediate(() => raw.write(bytes)));
  const reasons: string[] = [];
  await new Promise<void>((resolve) => {
    open(path, { closed: (why) => (reasons.push(why), setTimeout(resolve, 50)) });
  });
  expect(reasons).toEqual([reason]);
});

test("nobody there is a reason", async () => {
  expect(await new Promise((resolve) => void open(somewhere(), { closed: resolve }))).toMatch(/ENOENT/);
});
