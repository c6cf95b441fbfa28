const duties = new Set<() => void>();
process.once("exit", () => {
  // What was started last goes first: programs end before the folders that they write into.
  for (const duty of [...duties].reverse()) duty();
});

/** Does something when this process ends, whatever happened to the tests. Returns the way to call it off. */
export function atExit(duty: () => void): () => void {
  duties.add(duty);
  return () => duties.delete(duty);
}
