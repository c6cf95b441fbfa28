import { isJsonObject, parseFrame, serializeFrame } from "../wire/index.ts";
import type { RequestId } from "../wire/index.ts";

/** The byte side of a client. */
export interface ClientTransport {
  send(text: string): void;
  /** To be called once. `closed` comes once, with the reason in words. */
  listen(receive: (text: string) => void, closed: (reason: string) => void): void;
  close(): void;
}

/** A refusal by the server. */
export class RpcError extends Error {
  readonly code: number | null;
  constructor(error: unknown) {
    const body = isJsonObject(error) ? error : {};
    super(typeof body["message"] === "string" ? body["message"] : "the server refused");
    this.name = "RpcError";
    this.code = typeof body["code"] === "number" ? body["code"] : null;
  }
}

export interface RpcEvents {
  notification(frame: { method: string; params: unknown; text: string }): void;
  request(frame: { id: RequestId; method: string; params: unknown; text: string }): void;
  closed(reason: string): void;
}

/** The client's half of the protocol: matches answers to requests, hands on the rest in order. */
export class RpcClient {
  readonly #transport: ClientTransport;
  readonly #events: RpcEvents;
  readonly #waiting = new Map<RequestId, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  #nextId = 1;
  #closed: string | null = null;

  constructor(transport: ClientTransport, events: RpcEvents) {
    this.#transport = transport;
    this.#events = events;
    transport.listen((text) => this.#receive(text), (reason) => this.#end(reason));
  }

  /**
   * The result; rejects with an `RpcError`, or when the connection ends. The caller knows the method's result. `read`
   * takes it before anything is handed on that came behind it: a promise settles later than the next frame may come.
   */
  request<T, R = T>(method: string, params: object, read: (result: T) => R = (result) => result as unknown as R): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      if (this.#closed !== null) return reject(new Error(this.#closed));
      const id = this.#nextId++;
      const take = (result: unknown): void => {
        try {
          resolve(read(result as T));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      this.#waiting.set(id, { resolve: take, reject });
      this.#transport.send(serializeFrame({ id, method, params }));
    });
  }

  notify(method: string): void {
    this.#transport.send(serializeFrame({ method }));
  }

  respond(id: RequestId, result: object): void {
    this.#transport.send(serializeFrame({ id, result }));
  }

  refuse(id: RequestId, code: number, message: string): void {
    this.#transport.send(serializeFrame({ id, error: { code, message } }));
  }

  close(): void {
    this.#transport.close();
  }

  #receive(text: string): void {
    const frame = parseFrame(text);
    switch (frame.kind) {
      case "notification":
        return this.#events.notification({ ...frame, text });
      case "request":
        return this.#events.request({ ...frame, text });
      case "response":
        this.#waiting.get(frame.id)?.resolve(frame.result);
        break;
      case "error":
        this.#waiting.get(frame.id)?.reject(new RpcError(frame.error));
        break;
      case "ignored":
        return;
    }
    this.#waiting.delete(frame.id);
  }

  #end(reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
    this.#events.closed(reason);
  }
}
