/** Resolves after `ms` milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Calls `look` until it gives something other than `undefined`. Rejects after `timeoutMs` with `describe()` in the
 * message, so that a failing test shows what was there instead.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  options: { timeoutMs?: number; everyMs?: number; describe?: () => string } = {},
): Promise<T> {
  const deadline = Date.now() + (options.timeoutMs ?? 10_000);
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}${options.describe ? `\n${options.describe()}` : ""}`);
    await sleep(options.everyMs ?? 20);
  }
}
