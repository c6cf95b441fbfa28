export type CheckStatus = "ok" | "warning" | "fault";

/** What a check found: a sentence, and what to do about it where something is to be done. */
export interface Finding {
  status: CheckStatus;
  found: string;
  next: string | null;
}

export interface Check {
  id: string;
  /** Aborted when its time is over. May reject: that is a fault of the check, and told as such. */
  run: (signal: AbortSignal) => Promise<Finding | null> | Finding | null;
}

/** One line of `foldcast doctor --json`. */
export interface CheckResult extends Finding {
  id: string;
  ms: number;
}

export const ok = (found: string): Finding => ({ status: "ok", found, next: null });
export const warning = (found: string, next: string | null): Finding => ({ status: "warning", found, next });
export const fault = (found: string, next: string | null): Finding => ({ status: "fault", found, next });

/** Runs all checks at the same time, none longer than `limitMs`; results in the order of the checks, without those that had nothing to say. */
export async function runChecks(checks: readonly Check[], limitMs: number): Promise<CheckResult[]> {
  const results = await Promise.all(checks.map((check) => runOne(check, limitMs)));
  return results.filter((each) => each !== null);
}

async function runOne({ id, run }: Check, limitMs: number): Promise<CheckResult | null> {
  const began = performance.now();
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => {
      abort.abort();
      resolve(warning(`no answer within ${limitMs / 1000} s`, "run foldcast doctor again when this machine is less busy"));
    }, limitMs);
  });
  let finding: Finding | null;
  try {
    finding = await Promise.race([late, (async () => run(abort.signal))()]);
  } catch (error) {
    finding = fault(error instanceof Error ? error.message : String(error), null);
  } finally {
    clearTimeout(timer);
  }
  return finding === null ? null : { id, ...finding, ms: Math.round(performance.now() - began) };
}

/** The worst of them. */
export function overall(results: readonly Finding[]): CheckStatus {
  const has = (status: CheckStatus): boolean => results.some((each) => each.status === status);
  return has("fault") ? "fault" : has("warning") ? "warning" : "ok";
}
