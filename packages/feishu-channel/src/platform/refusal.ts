import type { Outcome, Refusal, RefusalKind } from "./outcome.ts";

/** An answer of Feishu as it came over HTTP: any status, `code` from the JSON body. */
export interface FeishuAnswer {
  readonly httpStatus: number;
  readonly code: number;
  readonly msg: string;
  /** `x-ogw-ratelimit-reset` in seconds, where the answer had it. */
  readonly rateLimitResetSeconds: number | null;
  readonly logId: string | null;
}

/** Codes by the reaction that is right for them (Feishu's documentation of CardKit v1, im v1 and the gateway, and field reports). */
const codesByKind: Partial<Record<RefusalKind, readonly number[]>> = {
  rateLimited: [99991400, 230020, 11232, 11233],
  sequence: [300317],
  streamingClosed: [200510, 200850, 300309],
  cardBusy: [200810],
  alreadyApplied: [200770],
  outOfSync: [300121, 300122, 300301, 300310, 300312, 300313, 300314, 300315],
  tooLarge: [200860, 230025, 234006],
  tooManyElements: [300305],
  tableLimit: [200914, 200915],
  invalidCard: [200220, 200530, 200550, 200621, 200861, 200830, 230099, 300302, 300303, 300307],
  badImage: [200570, 230017, 234011, 234039],
  gone: [200740, 200750, 230011, 230019, 230031, 230110, 232006, 232009],
  noThread: [230071, 230072],
  audit: [230022, 230028],
  forbidden: [230002, 230006, 230013, 230018, 230027, 230035, 230038, 230050, 230053, 230073, 232010, 232011, 234040, 300311, 99991401, 99991672, 99991679],
  unauthorized: [10003, 10014, 99991661, 99991663, 99991664, 99991668, 99991671],
  serverBusy: [300120],
  badRequest: [9499, 10002, 99991402, 230001, 230034, 230054, 230055, 234003, 234010, 234043],
};

const kindByCode = new Map<number, RefusalKind>(
  Object.entries(codesByKind).flatMap(([kind, codes]) => codes.map((code) => [code, kind as RefusalKind] as const)),
);

/** Internal errors after which nobody knows whether the request was done; 230049 says that the message is just being sent. */
const uncertainCodes = new Set([2200, 230049, 300000]);

/** The tenant token was not taken; a new one helps where the app secret is right. */
const staleTokenCodes = new Set([99991661, 99991663, 99991664, 99991668]);

const defaultPauseMs: Partial<Record<RefusalKind, number>> = { rateLimited: 1_000, sequence: 0, cardBusy: 500, serverBusy: 1_000, unreachable: 1_000 };

const maxMsgLength = 500;

/** Turns an answer with `code ≠ 0`, or with an HTTP status that says no, into what it means. HTTP 5xx and 408 never count as a refusal. */
export function readRefusal(answer: FeishuAnswer): Outcome<never> {
  const { httpStatus, code } = answer;
  const msg = answer.msg.slice(0, maxMsgLength);
  if (httpStatus >= 500 || httpStatus === 408 || uncertainCodes.has(code)) {
    return { kind: "uncertain", uncertainty: { reason: "serverError", httpStatus, code: code === 0 ? null : code, detail: `HTTP ${httpStatus}, code ${code}: ${msg}` } };
  }
  const subCode = code === 230099 ? errCodeInText(answer.msg) : null;
  const kind = httpStatus === 429 ? "rateLimited" : refusalKind(code, subCode, answer.msg);
  return { kind: "refused", refusal: { kind, code, subCode, msg, httpStatus, ...pauseOf(kind, answer.rateLimitResetSeconds), logId: answer.logId } };
}

/** A refusal without an answer of Feishu: nothing was sent, or what came is no answer of Feishu's. */
export function localRefusal(kind: RefusalKind, msg: string, httpStatus: number | null = null): { readonly kind: "refused"; readonly refusal: Refusal } {
  return { kind: "refused", refusal: { kind, code: null, subCode: null, msg: msg.slice(0, maxMsgLength), httpStatus, ...pauseOf(kind, null), logId: null } };
}

/** True for answers that a fresh tenant token cures. */
export function isStaleToken(outcome: Outcome<unknown>): boolean {
  return outcome.kind === "refused" && outcome.refusal.code !== null && staleTokenCodes.has(outcome.refusal.code);
}

function pauseOf(kind: RefusalKind, resetSeconds: number | null): Pick<Refusal, "retryable" | "retryAfterMs"> {
  const pause = defaultPauseMs[kind];
  if (pause === undefined) return { retryable: false, retryAfterMs: null };
  return { retryable: true, retryAfterMs: kind === "rateLimited" && resetSeconds !== null ? resetSeconds * 1_000 : pause };
}

function refusalKind(code: number, subCode: number | null, msg: string): RefusalKind {
  // 11310 stands for several limits; only its text tells which.
  if (subCode === 11310) return /table/i.test(msg) ? "tableLimit" : "tooManyElements";
  return (subCode === null ? undefined : kindByCode.get(subCode)) ?? kindByCode.get(code) ?? "unknown";
}

/** A card refused when it is sent carries the reason as text: `… ErrCode: 11310; ErrMsg: …`. */
function errCodeInText(msg: string): number | null {
  const found = /ErrCode:\s*(\d+)/i.exec(msg)?.[1];
  return found === undefined ? null : Number(found);
}
