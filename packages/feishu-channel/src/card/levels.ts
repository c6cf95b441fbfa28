/** How much of a page's content is shown; each level renders again from the raw content with smaller limits. */
export interface Level {
  /** Share of the preview limits that a tool's panel shows. */
  readonly scale: number;
  /** Tools of the page, counted from its end, that keep a panel of their own; the finished ones before them are one line each. */
  readonly panels: number;
  readonly reasoningChars: number;
  /** Tools without a panel are counted, not named. */
  readonly countOnly: boolean;
}

export const LEVELS: readonly Level[] = [
  { scale: 1, panels: Infinity, reasoningChars: 4_000, countOnly: false },
  { scale: 0.3, panels: 24, reasoningChars: 1_200, countOnly: false },
  { scale: 0.1, panels: 10, reasoningChars: 500, countOnly: false },
  { scale: 0.1, panels: 3, reasoningChars: 200, countOnly: false },
  { scale: 0.05, panels: 0, reasoningChars: 80, countOnly: false },
];

/** For a page that is closed already and yet has grown too large: nothing of it moves to another card any more. */
export const LAST_RESORT: Level = { scale: 0.05, panels: 0, reasoningChars: 0, countOnly: true };

/** A page ends when its content does not fit at this level. */
export const CLOSING_LEVEL = LEVELS.length - 1;
