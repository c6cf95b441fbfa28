/**
 * Error codes as the Codex 0.171 app-server uses them. They differ from JSON-RPC custom:
 * an unknown method is an invalid request, and -32601 only says "not supported yet".
 */
export const ErrorCode = {
  invalidRequest: -32600,
  notSupported: -32601,
  invalidParams: -32602,
  internal: -32603,
  overloaded: -32001,
} as const;

export interface WireErrorBody {
  code: number;
  message: string;
  data?: unknown;
}

/** An error that goes to the client as it stands: its text is part of the protocol. */
export class WireError extends Error {
  readonly body: WireErrorBody;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "WireError";
    this.body = data === undefined ? { code, message } : { code, message, data };
  }
}

/** -32600 with Codex's own text. */
export function invalidRequest(message: string): WireError {
  return new WireError(ErrorCode.invalidRequest, message);
}

/** -32601 in the form that Codex uses for what it cannot do. */
export function notSupported(what: string, missing?: string): WireError {
  return new WireError(ErrorCode.notSupported, `${what} is not supported yet${missing === undefined ? "" : `: ${missing}`}`);
}
