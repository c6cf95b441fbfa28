/** One kind of corpus rows and how a row is judged. `check` may throw on a row that is not of its kind. */
export interface CorpusSuite { name: string; check(row: unknown): { pass: boolean; got: unknown; want: unknown } }
