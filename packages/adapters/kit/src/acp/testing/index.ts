export { AgentError, FakeAgent, type AgentHandler } from "./fake-agent.ts";
export { testProgram } from "./test-program.ts";
