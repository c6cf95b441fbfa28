const duties = new Set<() => void>();
process.once("exit", () => {
  for (const duty of duties) duty();
});

/** Does something when this process ends, whatever happened to the tests. Returns the way to call it off. */
export function atExit(duty: () => void): () => void {
  duties.add(duty);
  return () => duties.delete(duty);
}
