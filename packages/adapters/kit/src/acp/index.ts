export { configOf, type Choice, type SessionConfig } from "./config.ts";
export { AcpConnection, type ConnectionOptions } from "./connection.ts";
export type { AcpDialect, CallView } from "./dialect.ts";
export { elicitationAsk } from "./elicitation.ts";
export { errorOf, exitError } from "./errors.ts";
export { permissionAsk, type AcpAsk } from "./permissions.ts";
export { AcpSession, type AcpSessionSetup } from "./session.ts";
export { PlainTeller, type AcpTeller, type PromptAnswer, type TellerPort } from "./teller.ts";
export { AcpUpdates, planOf } from "./updates.ts";
