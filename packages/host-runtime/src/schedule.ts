/** Runs `work` once after so many milliseconds; gives the way to call it off. Tests hand in one that follows their own clock. */
export type Schedule = (ms: number, work: () => void) => () => void;

/** On the clock of the process, which it does not keep alive. */
export const schedule: Schedule = (ms, work) => {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
};
