import { randomUUID } from "node:crypto";
import { client, methods, PROTOCOL_VERSION, RequestError, type AnyMessage, type ClientConnection, type InitializeRequest } from "@agentclientprotocol/sdk";
import type { HarnessEnvironment, HarnessError } from "@foldcast/protocol-core/harness";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { type ChildExit, type LineChild, spawnLines } from "../child.ts";
import { exitError } from "./errors.ts";
import { type JsonRecord, filledString, objectOf } from "../json.ts";
import { endLeftovers, markedEnv } from "./leftovers.ts";

export interface ConnectionOptions {
  /** For a person, as in "Kimi Code". */
  name: string;
  command: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** What this client can do for the agent, as `initialize` says it. */
  clientCapabilities?: InitializeRequest["clientCapabilities"];
  /** Of this client, for the agent's logs. */
  clientInfo?: { name: string; version: string };
  /** Milliseconds for the start and `initialize`. */
  startPatienceMs?: number;
  log: HarnessEnvironment["log"];
  /** Every notification, in order, before anything that the agent sent after it. */
  onNotification(method: string, params: JsonRecord): void;
  /** A request of the agent; what it resolves with is the result. `signal` aborts when the agent takes it back or ends. */
  onRequest: Readonly<Record<string, (params: JsonRecord, signal: AbortSignal) => Promise<unknown>>>;
  /** The program ended without being asked to; nothing follows. */
  readonly onEnd: (error: HarnessError) => void;
}

const START_PATIENCE_MS = 60_000;
const ASK_PATIENCE_MS = 60_000;
/** A program stops to read a little before it has ended. */
const LAST_WORDS_PATIENCE_MS = 1000;

/**
 * A running agent that was told hello: JSON-RPC over its pipes by the ACP SDK, protocol v1.
 *
 * Notifications go past the SDK: it drops an update of a kind that its schema does not know, checks each one in full,
 * and handles them beside each other. Here they are taken in their order with the answers around them.
 */
export class AcpConnection {
  /** The answer to `initialize`. */
  about: JsonRecord = {};
  readonly #options: ConnectionOptions;
  readonly #child: LineChild;
  readonly #id: string;
  readonly #connection: ClientConnection;
  #ended: HarnessError | null = null;
  #closing = false;

  private constructor(child: LineChild, id: string, options: ConnectionOptions) {
    this.#child = child;
    this.#id = id;
    this.#options = options;
    const app = client({ name: "foldcast" });
    for (const [method, handler] of Object.entries(options.onRequest)) {
      app.onRequest<JsonRecord, unknown>(method, objectOf, ({ params, signal }) => handler(params, signal));
    }
    this.#connection = app.connect({ readable: this.#readable(), writable: this.#writable() });
  }

  /** Starts the program. Rejects with a readable message; nothing is left running then. */
  static async start(options: ConnectionOptions): Promise<AcpConnection> {
    const id = randomUUID();
    const child = await spawnLines({ command: options.command, cwd: options.cwd, env: markedEnv(options.env, id) });
    const connection = new AcpConnection(child, id, options);
    try {
      const { clientCapabilities = {}, clientInfo = { name: "foldcast", version: "0" } } = options;
      connection.about = objectOf(await connection.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities, clientInfo }, options.startPatienceMs ?? START_PATIENCE_MS));
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  get running(): boolean {
    return this.#ended === null && !this.#closing && this.#child.running;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Rejects with the agent's own error, and when it ends or gives no answer in time (null = it may take for ever). */
  async request(method: string, params: object, patienceMs: number | null = ASK_PATIENCE_MS): Promise<unknown> {
    if (this.#ended !== null) throw new Error(this.#ended.message);
    let timer: NodeJS.Timeout | undefined;
    const expiry = new Error(`${this.#options.name} gave no answer to ${method} within ${(patienceMs ?? 0) / 1000} seconds.`);
    const late = new Promise<never>((_, reject) => {
      if (patienceMs !== null) timer = setTimeout(() => reject(expiry), patienceMs);
    });
    try {
      return await Promise.race([this.#connection.agent.request(method, params), late]);
    } catch (error) {
      // A program that ended says more than a pipe that closed.
      const exit = error === expiry || error instanceof RequestError ? null : await this.#exitSoon();
      if (exit === null) throw error;
      throw new Error(exitError(this.#options.name, exit, this.#options.env).message, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async #exitSoon(): Promise<ChildExit | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, LAST_WORDS_PATIENCE_MS, null)));
    const exit = await Promise.race([this.#child.exited, late]);
    clearTimeout(timer);
    return exit;
  }

  /** Rejects when the agent no longer reads. */
  notify(method: string, params: object): Promise<void> {
    return this.#connection.agent.notify(method, params);
  }

  /** Ends the program with all that it started. Idempotent, never rejects. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#child.close();
    await endLeftovers(this.#id);
    this.#connection.close();
  }

  #writable(): WritableStream<AnyMessage> {
    return new WritableStream({ write: (message) => this.#child.send(message) });
  }

  #readable(): ReadableStream<AnyMessage> {
    const messages = this.#messages();
    return new ReadableStream<AnyMessage>({
      async pull(controller) {
        const { value, done } = await messages.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    }, { highWaterMark: 0 });
  }

  /** What is left for the SDK: requests and answers. */
  async *#messages(): AsyncGenerator<AnyMessage, undefined> {
    for await (const lines of this.#child.lines) {
      for (const line of lines) {
        const message = this.#parse(line);
        if (message === null) continue;
        const method = filledString(message["method"]);
        if (method !== null && message["id"] === undefined) {
          this.#options.onNotification(method, objectOf(message["params"]));
          continue;
        }
        yield message as unknown as AnyMessage;
        // Who waits for the answer goes on before what came behind it is looked at.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    this.#end(await this.#child.exited);
    return undefined;
  }

  #parse(line: string): JsonRecord | null {
    try {
      const value: unknown = JSON.parse(line);
      if (isJsonObject(value)) return value["jsonrpc"] === undefined ? { jsonrpc: "2.0", ...value } : value;
    } catch {
      // Some programs print to stdout before they speak.
    }
    this.#options.log("warn", `${this.#options.name} wrote a line that is no message`, { line: line.slice(0, 200) });
    return null;
  }

  #end(exit: ChildExit): void {
    const { name, env, onEnd } = this.#options;
    this.#ended = exitError(name, exit, env);
    if (!this.#closing) onEnd(this.#ended);
  }
}
