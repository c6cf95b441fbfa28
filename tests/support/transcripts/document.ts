import type { Outcome, ReplayResult } from "./replay.ts";

function requestTable(outcomes: readonly Outcome[]): string {
  const methods = new Map<string, Map<string, number>>();
  for (const { method, result } of outcomes) {
    const counts = methods.get(method) ?? new Map<string, number>();
    methods.set(method, counts.set(result, (counts.get(result) ?? 0) + 1));
  }
  const rows = [...methods].sort(([a], [b]) => (a < b ? -1 : 1)).map(([method, counts]) => {
    const best = counts.has("refused") ? "refused" : counts.has("equal") ? (counts.has("valid") ? "equal or valid" : "equal") : "valid";
    return `| \`${method}\` | ${[...counts.values()].reduce((sum, count) => sum + count, 0)} | ${best} |`;
  });
  return ["| request | answers | against the recording |", "|---|---:|---|", ...rows].join("\n");
}

function sentTable(results: readonly ReplayResult[]): string {
  const methods = new Map<string, { ours: number; equal: boolean }>();
  for (const [method, { ours, equal }] of results.flatMap((result) => [...result.sent])) {
    const known = methods.get(method) ?? { ours: 0, equal: false };
    methods.set(method, { ours: known.ours + ours, equal: known.equal || equal });
  }
  const rows = [...methods].sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([method, { ours, equal }]) => `| \`${method}\` | ${ours === 0 ? "never sent" : equal ? "equal to a recorded one" : "valid, with other content"} |`);
  return ["| from the server | against the recording |", "|---|---|", ...rows].join("\n");
}

/** docs/architecture/protocol-surface.md, whole. */
export function surfaceDocument(results: readonly ReplayResult[]): string {
  return `# The protocol surface

Real clients and the real server (Codex 0.171) were recorded. \`tests/e2e/transcripts.recorded.test.ts\` plays the client side of each recording against \`foldcast serve --no-native\`, with a scripted scenario in the place of the model, and writes this page; \`npx vitest run --project real tests/e2e/transcripts.recorded.test.ts -u\` brings it up to date. Ids, cursors and revisions that foldcast answered stand in for the recorded ones.

- **equal**: the same answer (or the same refusal, word for word) after ids, times, paths and versions are made alike and members without a value are left out.
- **valid**: an answer that the schema of Codex 0.171 accepts, with other content: other models, other threads, no account, no plugins; or an answer where the recorded server had none to give.
- **refused**: an error where the recorded client got an answer. There is none, and the test fails when there is one.

Recordings with a stand-in for the server show what clients ask; their answers are no measure and count as valid.

${requestTable(results.flatMap((result) => result.outcomes))}

${sentTable(results)}

## Beyond the recordings

| request | what foldcast does |
|---|---|
| \`thread/revert\`, \`thread/rollback\` | the thread goes on in a copy of its session that ends before the turn; with a harness that cannot copy: not supported. Files on disk stay as they are; a running turn is interrupted for it, as measured |
| \`thread/items/read\` | as described in the schema |
| \`thread/search\`, \`thread/search/stream\`, \`thread/searchOccurrences\` | what was said in threads, as measured on the real server, and their names; a page takes no longer than two seconds, its cursor goes on from there; there are no partial results |
| \`thread/queue/*\` | inputs that wait for the running turn's end; kept over a restart until they are sent. As measured, after an interrupt they wait for the end of another turn, \`thread/queue/start\` or \`thread/resume\` |
| \`threadSection/*\`, \`thread/section/move\` | kept by the host; the section "Pinned" is always there |
| \`thread/settings/update\`, \`thread/metadata/update\` | settings apply from the next turn on; there are no projects |
| \`thread/compact/start\` | a turn that shows the compaction and nothing else; a running turn is interrupted for it, as measured. With a harness that decides by itself: not supported |
| what begins work, after SIGTERM or SIGINT | \`-32600\`, "Server is draining; retry after reconnecting", as measured; reads are answered, running turns are interrupted |
| what a client wants kept, on a disk that is full | \`-32603\`, "… could not be saved: …"; turns go on |
| \`thread/shellCommand\`, \`thread/goal/set\`, \`thread/goal/clear\`, \`thread/inject_items\`, \`thread/memoryMode/set\`, \`thread/backgroundTerminals/clean\`, \`review/start\` | \`-32601\`, "… is not supported yet", with what is missing |
| everything else | \`-32600\`, "unknown variant", as the real server answers what it does not know |
`;
}
