/** Resolves after `ms` milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Calls `look` until it gives something other than `undefined`. Rejects after `timeoutMs` – long enough for the start of
 * a program on a busy machine, where nothing else is said – with `describe()` in the message, so that a failing test
 * shows what was there instead.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  options: { timeoutMs?: number; everyMs?: number; describe?: () => string } = {},
): Promise<T> {
  const deadline = Date.now() + (options.timeoutMs ?? 60_000);
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}${options.describe ? `\n${options.describe()}` : ""}`);
    await sleep(options.everyMs ?? 20);
  }
}

/** Resolves with what `look` gives once that has stayed equal, as `same` sees it, for a second. */
export async function stillFor<T>(what: string, look: () => T | Promise<T>, same: (value: T) => string): Promise<T> {
  let before = "";
  let equal = 0;
  return until(`${what} to stand still`, async () => {
    const value = await look();
    const now = same(value);
    equal = now === before ? equal + 1 : 0;
    before = now;
    return equal === 4 ? value : undefined;
  }, { everyMs: 250, describe: () => before });
}
