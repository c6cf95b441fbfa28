import { createInterface } from "node:readline";
import { type JsonRecord, filledString, objectOf } from "../../json.ts";

export type AgentHandler = (params: JsonRecord, agent: FakeAgent) => unknown;

/** An error that an agent answers with. */
export class AgentError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * The agent's side of ACP on the pipes of this process, for tests. It is made by hand, so that it can send what the
 * protocol does not allow. Ends with its input, as real agents do.
 */
export class FakeAgent {
  readonly #handlers: Readonly<Record<string, AgentHandler>>;
  readonly #waiting = new Map<number, (message: JsonRecord) => void>();
  #numbers = 0;

  constructor(handlers: Readonly<Record<string, AgentHandler>>) {
    this.#handlers = handlers;
    const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
    lines.on("line", (line) => void this.#take(objectOf(JSON.parse(line))));
    lines.on("close", () => process.exit(0));
  }

  /** Writes a line as it is. */
  write(line: string): void {
    process.stdout.write(`${line}\n`);
  }

  send(message: object): void {
    this.write(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  update(sessionId: unknown, update: object): void {
    this.send({ method: "session/update", params: { sessionId, update } });
  }

  /** Resolves with the client's whole answer: `result` or `error`. */
  request(method: string, params: object): Promise<JsonRecord> {
    const id = (this.#numbers += 1);
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.send({ id, method, params });
    });
  }

  async #take(message: JsonRecord): Promise<void> {
    const { id } = message;
    const method = filledString(message["method"]);
    if (method === null) return this.#waiting.get(id as number)?.(message);
    try {
      const handler = this.#handlers[method];
      if (handler === undefined) throw new AgentError(-32601, `there is no method ${method}`);
      const result = await handler(objectOf(message["params"]), this);
      if (id !== undefined) this.send({ id, result: result ?? {} });
    } catch (error) {
      const { code, message: words, data } = error instanceof AgentError ? error : new AgentError(-32603, String(error));
      if (id !== undefined) this.send({ id, error: { code, message: words, ...(data === undefined ? {} : { data }) } });
    }
  }
}
