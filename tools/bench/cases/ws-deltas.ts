import { deltasCase } from "../wire/deltas-case.ts";

/** Deltas a second of one message, from a harness process through the server to one client on a WebSocket; and to ten. */
export default deltasCase("ws", [1, 10]);
