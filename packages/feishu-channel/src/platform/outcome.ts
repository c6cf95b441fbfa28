/**
 * What became of a request to Feishu. Only `ok` says that it was done; `uncertain` says that nobody knows.
 *
 * - `ok`: HTTP 2xx, `code: 0`, and the ids that the call promises are there.
 * - `refused`: Feishu (or the port itself, before sending) said no: the request has had no effect.
 * - `uncertain`: the request left, or may have left, and no readable answer came (time-out, HTTP 5xx, connection lost).
 *   It may have worked. Repeat the same idempotent request (same uuid, or a full update with a new sequence); fall back
 *   to another way of delivery only after a definite refusal.
 */
export type Outcome<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "uncertain"; readonly uncertainty: Uncertainty };

export interface Uncertainty {
  /** `connection`: lost before or while the answer was read. `unreadable`: an answer that is not Feishu's JSON. */
  readonly reason: "timeout" | "serverError" | "connection" | "unreadable";
  readonly httpStatus: number | null;
  /** Feishu's code where an internal error came with one (2200, 230049 …), else null. */
  readonly code: number | null;
  /** One line for a log, without secrets. */
  readonly detail: string;
}

export interface Refusal {
  readonly kind: RefusalKind;
  /** Feishu's `code`; null when the request never reached Feishu. */
  readonly code: number | null;
  /** The `ErrCode` inside the text of a 230099 (card refused when sent), else null. */
  readonly subCode: number | null;
  /** Feishu's text, without secrets, at most 500 characters. */
  readonly msg: string;
  readonly httpStatus: number | null;
  /** The same state may be sent again later (with a new sequence where the call has one). */
  readonly retryable: boolean;
  /** How long Feishu asks to wait (`x-ogw-ratelimit-reset`), or a sensible pause; null when not retryable. */
  readonly retryAfterMs: number | null;
  /** Feishu's log id, for its support. */
  readonly logId: string | null;
}

/**
 * The right reaction to a refusal. The codes stand in `refusal.ts`.
 *
 * - `rateLimited` (99991400, HTTP 429, 230020): wait `retryAfterMs`, drop what is out of date, send the newest.
 * - `sequence` (300317): jump the sequence ahead and write the whole card again.
 * - `streamingClosed` (200850, 300309, 200510): no content call any more; re-open by settings or write by batch/full update.
 * - `cardBusy` (200810): a click on the card is being answered; again after about half a second.
 * - `alreadyApplied` (200770): this uuid was used before: the earlier try has worked.
 * - `outOfSync` (300301, 300310, 300313 and the other partial-write codes): what the card holds is not what was thought: full update.
 * - `tooLarge` (200860, 230025), `tooManyElements` (300305, 11310), `tableLimit` (11310 with "table", 200914, 200915):
 *   render smaller or continue on another card.
 * - `invalidCard` (200220, 300307, 300302, 300303, 200621, 200861, 230099 …): this card will never be taken: plain card, post, text.
 * - `badImage` (200570): remove images.
 * - `gone` (200740, 200750, 230011, 230110, 230031, 232009 …): card, message or chat is no more: forget the reference.
 * - `noThread` (230071, 230072): no replies in a topic here: plain reply.
 * - `audit` (230028): mail address or the like in clear: mask and send again.
 * - `forbidden` (230002, 230006, 230013, 230018, 230027, 230035, 230050, 300311 …): not allowed here: tell the operator.
 * - `unauthorized` (99991661, 99991663, 10003, 10014 …): app id or secret wrong; a stale token is renewed by the port itself.
 * - `serverBusy` (300120): again with the next sequence.
 * - `unreachable`: no connection could be made, nothing was sent.
 * - `badRequest` (10002, 230001, 9499 …): a fault of ours.
 * - `unknown`: any other code; not retried.
 */
export type RefusalKind =
  | "rateLimited"
  | "sequence"
  | "streamingClosed"
  | "cardBusy"
  | "alreadyApplied"
  | "outOfSync"
  | "tooLarge"
  | "tooManyElements"
  | "tableLimit"
  | "invalidCard"
  | "badImage"
  | "gone"
  | "noThread"
  | "audit"
  | "forbidden"
  | "unauthorized"
  | "serverBusy"
  | "unreachable"
  | "badRequest"
  | "unknown";
