import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ReplyChooser } from "./choose.ts";
import type { Dialect, ModelRequest } from "./dialect.ts";
import { dialects } from "./dialects.ts";
import { scenarioSchema, type Reply, type ScenarioInput } from "./scenario.ts";

/** One call that came in, in the order of arrival. */
export interface ReceivedRequest extends ModelRequest {
  dialect: string;
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
  /** What it was answered with; null = the scenario had nothing for it. */
  reply: Reply | null;
  /** The client went before the answer was whole. */
  abandoned: boolean;
}

export interface ModelServer extends AsyncDisposable {
  /** Without a slash at the end; an API's own path comes behind it. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Calls of no API that is spoken here, such as a login or an update check. */
  readonly strange: readonly string[];
  /** Replies that nobody asked for. */
  unused(): readonly Reply[];
  /** Forgets what came in so far. */
  forget(): void;
  /** Says other things from now on. */
  play(scenario: ScenarioInput): void;
  /** Lets the replies with this `hold` begin. Counts until the next `play`. */
  release(hold: string): void;
  close(): Promise<void>;
}

/** The same for all who run at the same time: a program must not see the same id twice. */
let answers = 0;

/** A model on loopback that says what a scenario says. Port 0 (default) = any free one. */
export async function startModelServer(options: { scenario: ScenarioInput; port?: number }): Promise<ModelServer> {
  let gates = new Gates();
  let chooser = new ReplyChooser(scenarioSchema.parse(options.scenario));
  const requests: ReceivedRequest[] = [];
  const strange: string[] = [];
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? "GET";
    const path = (request.url ?? "/").replace(/\?.*$/, "");
    const body = await readBody(request);
    const dialect = dialects.find((each) => each.isModelCall(method, path));
    if (dialect === undefined) {
      const aside = dialects.map((each) => each.aside(method, path, body)).find((answer) => answer !== null);
      if (aside === undefined) strange.push(`${method} ${path}`);
      return sendJson(response, aside === undefined ? 404 : 200, aside ?? { error: { message: `nothing is at ${path}` } });
    }
    const read = dialect.read(body);
    const reply = chooser.next(read);
    const { passed } = gates.at(reply?.hold);
    const received: ReceivedRequest = { ...read, dialect: dialect.name, path, headers: request.headers, body, reply, abandoned: false };
    requests.push(received);
    response.once("close", () => (received.abandoned = !response.writableFinished));
    answers += 1;
    const gone = new Promise<void>((resolve) => response.once("close", resolve));
    await Promise.race([passed, gone]);
    await answer(dialect, received, response, `msg_${process.pid.toString(36)}_${answers}`);
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    strange,
    unused: () => chooser.unused,
    forget: () => void requests.splice(0),
    play(scenario) {
      chooser = new ReplyChooser(scenarioSchema.parse(scenario));
      gates = new Gates();
    },
    release: (hold) => gates.at(hold).open(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Gate {
  passed: Promise<void>;
  open(): void;
}

/** What a test holds back, by name. */
class Gates {
  readonly #known = new Map<string, Gate>();

  /** No name: open. */
  at(name: string | undefined): Gate {
    if (name === undefined) return { passed: Promise.resolve(), open: () => undefined };
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    let open = (): void => undefined;
    const gate: Gate = { passed: new Promise((resolve) => (open = resolve)), open: () => open() };
    this.#known.set(name, gate);
    return gate;
  }
}

async function answer(dialect: Dialect, request: ReceivedRequest, response: ServerResponse, id: string): Promise<void> {
  const reply = request.reply ?? NOTHING;
  if (reply.delayMs !== undefined) await wait(reply.delayMs, response);
  const { error } = reply;
  if (error !== undefined && (reply.blocks.length === 0 || !request.stream)) {
    return sendJson(response, error.status, dialect.failure(error), error.headers);
  }
  if (!request.stream) {
    if (reply.hang !== true) sendJson(response, 200, dialect.whole(reply, request, id));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const { pieces, end } = dialect.stream(reply, request, id);
  const cut = reply.dropAfter !== undefined;
  for (const piece of pieces.slice(0, reply.dropAfter)) {
    if (response.destroyed) return;
    response.write(piece);
    if (reply.chunkMs !== undefined) await wait(reply.chunkMs, response);
  }
  if (cut) {
    // What was written has to leave first.
    await wait(20, response);
    response.destroy();
  } else if (error !== undefined) response.end(dialect.streamFailure(error).join(""));
  else if (reply.hang !== true) response.end(end.join(""));
}

/** No client takes this for something to try again. */
const NOTHING: Reply = { blocks: [], error: { status: 400, type: "invalid_request_error", message: "the scenario has no reply for this request" } };

function wait(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    response.once("close", done);
    function done(): void {
      clearTimeout(timer);
      response.off("close", done);
      resolve();
    }
  });
}

function sendJson(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
