import type { IncomingMessage, ServerResponse } from "node:http";
import type { FakeFeishu } from "./fake-feishu.ts";
import { isJson } from "./refusal.ts";
import { answer } from "./rest/rest-server.ts";

/** The methods that can be called over HTTP: POST `/__fake/<name>` with the method's one object as JSON. */
export const controlNames = [
  "addPerson", "addChat", "setBotIn", "say", "attach", "takeBack", "read", "click", "disband", "forget", "chats", "chat", "message", "unsentCards", "now", "advance", "planFaults", "clearFaults",
  "firedFaults", "pendingFaults", "connections", "closeSockets", "silenceSockets", "setDiscoveryCode", "dropTokens", "setRules", "broken", "advice", "forgetBroken", "deliveries", "calls", "counts",
] as const satisfies readonly (keyof FakeFeishu)[];

export type ControlName = (typeof controlNames)[number];
type Method<K extends ControlName> = FakeFeishu[K];

/** The same methods from another process; each is a promise of what the method gives. */
export type RemoteFake = { readonly [K in ControlName]: (...args: Parameters<Method<K>>) => Promise<Awaited<ReturnType<Method<K>>>> };

const prefix = "/__fake/";

export function serveControl(fake: FakeFeishu): (request: IncomingMessage, response: ServerResponse, body: Buffer) => Promise<boolean> {
  return async (request, response, body) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (!path.startsWith(prefix)) return false;
    if (!isOwnPage(fake, request.headers.host, request.headers.origin)) return answered(response, 403, { error: "other origin" });
    const name = controlNames.find((known) => known === path.slice(prefix.length));
    if (name === undefined) return answered(response, 404, { error: "no such method", methods: controlNames });
    try {
      const argument: unknown = body.length === 0 ? {} : JSON.parse(body.toString("utf8"));
      const method = fake[name].bind(fake) as (argument: unknown) => unknown;
      return answered(response, 200, { result: (await method(argument)) ?? null });
    } catch (error) {
      return answered(response, 400, { error: error instanceof Error ? error.message : String(error) });
    }
  };
}

/** Controls a fake by its base URL. A method that fails there rejects here with the same message. */
export function remoteFake(baseUrl: string): RemoteFake {
  const call = (name: ControlName) => async (argument: unknown = {}): Promise<unknown> => {
    const answer = await fetch(`${baseUrl}${prefix}${name}`, { method: "POST", body: JSON.stringify(argument) });
    const body: unknown = await answer.json();
    if (!isJson(body)) throw new Error(`the fake answered ${answer.status}`);
    if (!answer.ok) throw new Error(String(body["error"]));
    return body["result"];
  };
  return Object.fromEntries(controlNames.map((name) => [name, call(name)])) as unknown as RemoteFake;
}

/** A page of another origin, also one whose name was bent to this machine, must not press buttons in somebody's name. */
function isOwnPage(fake: FakeFeishu, host: string | undefined, origin: string | undefined): boolean {
  const port = new URL(fake.baseUrl).port;
  const own = [new URL(fake.baseUrl).host, `127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  return host !== undefined && own.includes(host) && (origin === undefined || origin === `http://${host}`);
}

function answered(response: ServerResponse, status: number, body: Readonly<Record<string, unknown>>): true {
  answer(response, status, body);
  return true;
}
