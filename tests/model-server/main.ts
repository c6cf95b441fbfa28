import { parseArgs } from "node:util";
import { loadScenario } from "./scenario.ts";
import { startModelServer } from "./server.ts";

// node --conditions=@foldcast/source --import tsx tests/model-server/main.ts --scenario FILE [--port N]
const { values } = parseArgs({ options: { scenario: { type: "string" }, port: { type: "string", default: "0" } } });
if (values.scenario === undefined) throw new Error("--scenario FILE is needed");
const server = await startModelServer({ scenario: loadScenario(values.scenario), port: Number(values.port) });
process.stdout.write(`${server.url}\n`);
