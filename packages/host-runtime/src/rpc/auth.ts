import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Why an HTTP request is refused; `body` is exact Codex 0.171 text. */
export interface Refusal {
  status: 400 | 401 | 403 | 405;
  reason: string;
  body: string;
}

const refusal = (status: Refusal["status"], reason: string, body = ""): Refusal => ({ status, reason, body });
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Browsers always send `Origin` on a WebSocket, programs never do: any Origin at all is refused. */
export function refuseOrigin(headers: IncomingHttpHeaders): Refusal | null {
  return headers.origin === undefined ? null : refusal(403, "Forbidden");
}

/** Checks `Authorization: Bearer <token>` with the real server's texts. `token` null = no authentication asked. */
export function refuseToken(headers: IncomingHttpHeaders, token: string | null): Refusal | null {
  if (token === null) return null;
  const header = headers.authorization;
  if (header === undefined) return refusal(401, "Unauthorized", "missing websocket bearer token");
  const given = /^bearer +(\S.*)$/i.exec(header)?.[1];
  if (given === undefined) return refusal(401, "Unauthorized", "invalid authorization header");
  if (!timingSafeEqual(digest(given.trim()), digest(token))) return refusal(401, "Unauthorized", "invalid websocket bearer token");
  return null;
}

/** The answer to a plain HTTP request that is no health check. */
export function refusePlainRequest(method: string | undefined): Refusal {
  return method === "GET"
    ? refusal(400, "Bad Request", "Connection header did not include 'upgrade'")
    : refusal(405, "Method Not Allowed", "Request method must be `GET`");
}
