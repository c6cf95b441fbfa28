/**
 * One kind of corpus. `check` judges a single parsed row and returns what the code gave beside what the row
 * wants; it throws only when the row does not have the shape of the corpus.
 */
export interface CorpusSuite {
  name: string;
  check(row: unknown): { pass: boolean; got: unknown; want: unknown };
}
