import { expect, test } from "vitest";
import { join } from "node:path";
import { REPO } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { WireSchema } from "../support/schema.ts";
import { startServer } from "../support/server.ts";
import { surfaceDocument } from "../support/transcripts/document.ts";
import { recordings } from "../support/transcripts/read.ts";
import { replay, unknownThreads, type ReplayResult } from "../support/transcripts/replay.ts";
import { RECORDED_MODEL } from "../support/transcripts/scenario.ts";

endToEnd();

const MODEL = "scripted/recorded";
const DOCUMENT = join(REPO, "docs/architecture/protocol-surface.md");

test("every recorded client gets an answer to all that it asks, and the table of it is up to date", async () => {
  await using server = await startServer({ scenarios: { recorded: RECORDED_MODEL }, speed: 1 });
  await using helper = await PlainClient.connect(server.url);
  const schema = WireSchema.cached();
  const results: ReplayResult[] = [];
  for (const recording of recordings()) {
    const names = new Map<string, string>();
    for (const id of unknownThreads(recording).known) {
      const thread = await helper.start({ model: MODEL, cwd: "/workspace" });
      await helper.prompt(thread.id, "as before");
      names.set(id, thread.id);
    }
    results.push(await replay(recording, { url: server.url, schema, defaultModel: MODEL, names }));
  }
  const outcomes = results.flatMap((result) => result.outcomes);
  expect(outcomes.length).toBeGreaterThan(300);
  expect(outcomes.filter(({ result }) => result === "refused" || result === "unanswered" || result === "invalid")).toEqual([]);
  const document = surfaceDocument(results);
  console.info(document);
  await expect(document).toMatchFileSnapshot(DOCUMENT);
}, 200_000);
