import { deltasCase } from "../wire/deltas-case.ts";

/** Deltas a second of one message to the client on standard streams, of which there is one. */
export default deltasCase("stdio", [1]);
