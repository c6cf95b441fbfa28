#!/usr/bin/env node
// Stands for the real Codex: `… --listen unix://PATH` (and ws://127.0.0.1:PORT from ECHO_PORT) answers every request at once.
const { createServer } = require("node:http");
const { WebSocketServer } = require("ws");

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
const accept = (request, raw, head) => sockets.handleUpgrade(request, raw, head, (socket) => {
  raw.setNoDelay?.(true);
  socket.on("message", (data) => {
    const { id } = JSON.parse(data.toString());
    if (id !== undefined) socket.send(`{"id":${JSON.stringify(id)},"result":{"fine":true}}`);
  });
});
const listen = (where) => createServer().on("upgrade", accept).listen(where);
listen(process.argv.at(-1).replace("unix://", ""));
