import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { openLink } from "./link.ts";

const server = createServer();
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test("a socket is reached whatever its path holds", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "a b:%20\u00fc-")), "s");
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, raw, head) => sockets.handleUpgrade(request, raw, head, (socket) => socket.send(String(request.url))));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const said = await new Promise<string>((resolve) => {
    const link = openLink(Promise.resolve(path), {
      opened: () => undefined,
      frame: (bytes) => (link.close(), resolve(bytes.toString())),
      closed: resolve,
    });
  });
  expect(said).toBe("/rpc");
});
