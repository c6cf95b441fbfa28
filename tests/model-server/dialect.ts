import type { Reply } from "./scenario.ts";

/** What a reply is chosen by. */
export interface ModelRequest {
  model: string;
  /** The answer is wanted as a stream of events. */
  stream: boolean;
  system: string;
  /** Text, tool results and images after the model's last words. */
  said: string;
  resultsOf: readonly string[];
  images: number;
  /** Names of the tools on offer. */
  tools: readonly string[];
}

/** A streamed answer as texts to write one after the other. */
export interface StreamedAnswer {
  /** All but the end of the last block: where an answer hangs or breaks off. */
  pieces: readonly string[];
  /** What makes the answer whole. */
  end: readonly string[];
}

/**
 * One model API. Pure: how an answer is paced, broken off or left hanging is the server's work. A new API is one file
 * with one of these, and one line in `dialects.ts`.
 */
export interface Dialect {
  readonly name: string;
  /** Whether this path (without its query) asks the model. */
  isModelCall(method: string, path: string): boolean;
  /** The answer to another call of this API, such as a list of models; null = not one of this API. */
  aside(method: string, path: string, body: unknown): object | null;
  read(body: unknown): ModelRequest;
  /** `id` is unique in the run. */
  stream(reply: Reply, request: ModelRequest, id: string): StreamedAnswer;
  whole(reply: Reply, request: ModelRequest, id: string): object;
  /** Body of an HTTP error. */
  failure(error: NonNullable<Reply["error"]>): object;
  /** The same in the middle of a stream. */
  streamFailure(error: NonNullable<Reply["error"]>): readonly string[];
}

/** One server-sent event. */
export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}
