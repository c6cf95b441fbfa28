/** The first time that is none: what a damaged record holds must not reach clients that read times as whole numbers. */
const NO_TIME_MS = 253_402_214_400_000;
const MAX_EXIT_CODE = 2_147_483_647;

/** Milliseconds since 1970, whole; null for what is no time up to the year 9999. */
export function timeOrNull(ms: number | null): number | null {
  return ms !== null && ms >= 0 && ms < NO_TIME_MS ? Math.floor(ms) : null;
}

/** Whole seconds of a time in milliseconds. */
export function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}

/** Milliseconds, whole and never negative; null for what no clock could have measured. */
export function durationOrNull(ms: number | null | undefined): number | null {
  return typeof ms === "number" && ms < NO_TIME_MS ? Math.max(0, Math.round(ms)) : null;
}

/** As the wire can carry it (a signed number of 32 bits); null for any other. */
export function exitCodeOrNull(code: number | null | undefined): number | null {
  return typeof code === "number" && Number.isInteger(code) && Math.abs(code) <= MAX_EXIT_CODE ? code : null;
}
