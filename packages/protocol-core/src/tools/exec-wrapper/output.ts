export interface ExecEnvelope { text: string } export function readExecOutput(output: unknown): ExecEnvelope { return { text: String(output) }; }
