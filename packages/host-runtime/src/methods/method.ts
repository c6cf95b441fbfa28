import type { z } from "zod";
import type { Host } from "../host.ts";
import type { Connection } from "../rpc/connection.ts";

export interface MethodContext {
  host: Host;
  connection: Connection;
}

/** One request method of the protocol: an entry of the table. */
export interface Method {
  name: string;
  /** Null = takes no parameters. */
  params: z.ZodType | null;
  /** Who answers: the host, a thread's actor, or a constant. */
  owner: "host" | "thread" | "static";
  /** Refused unless the client announced `experimentalApi`. */
  experimental: boolean;
  /** Members of the parameters that are refused without it. */
  experimentalFields: readonly string[];
  /** The result, or a `Reply` where something must follow the response; throws a `WireError` to refuse. */
  handler(params: unknown, context: MethodContext): unknown;
}

interface MethodSpec<S extends z.ZodType | null> {
  owner: Method["owner"];
  params: S;
  experimental?: true;
  experimentalFields?: readonly string[];
  handler(params: S extends z.ZodType ? z.infer<S> : null, context: MethodContext): unknown;
}

/** An entry whose handler gets parameters of its schema's type. */
export function method<S extends z.ZodType | null>(name: string, spec: MethodSpec<S>): Method {
  return {
    name,
    params: spec.params,
    owner: spec.owner,
    experimental: spec.experimental ?? false,
    experimentalFields: spec.experimentalFields ?? [],
    // The one place where the types of an entry meet: `dispatch` calls it with what the entry's own schema parsed.
    handler: (params, context) => spec.handler(params as never, context),
  };
}
