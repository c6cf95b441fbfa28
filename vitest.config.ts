import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Recordings of real programs stand beside the checkout; they are not part of it. Without them their tests are left out. */
const hasRecordings = existsSync(new URL("../shared/data", import.meta.url));
if (!hasRecordings) process.stderr.write("no recordings in ../shared/data: *.recorded.test.ts are left out\n");

/** Tests that install and drive harness programs, or need the machine for themselves: a command of their own. */
const harnessTests = ["claude", "claude-tui", "feishu-claude", "kimi", "kimi-tui", "codex-history"].map((name) => `tests/real/${name}.test.ts`);

/** Hermetic, but each of them starts many programs or plays for many seconds: `npm test` is to stay under two minutes. */
const longTests = [
  "tests/e2e/chat.test.ts", "tests/e2e/crash.test.ts", "tests/e2e/desktop-doors.test.ts", "tests/e2e/desktop-instances.test.ts", "tests/e2e/faults.test.ts",
  "tests/e2e/feishu-chats.test.ts", "tests/e2e/feishu-serve.test.ts", "tests/e2e/interactions.test.ts", "tests/e2e/joining.test.ts", "tests/e2e/live-replay.test.ts",
  "tests/e2e/saved-sessions.recorded.test.ts", "tests/e2e/transcripts.recorded.test.ts", "tests/replay/damaged-sessions.recorded.test.ts", "tools/boundaries.test.ts",
];
const withoutRecordings = hasRecordings ? [] : ["**/*.recorded.test.ts"];

const conditions = ["@foldcast/source", "module", "node", "import", "default"];
/** Tests start the program itself from a bundle. */
const globalSetup = ["tests/support/global-setup.ts"];
const setupFiles = ["tests/support/property-seed.ts"];
/** Of what is looked at again and again: a busy machine takes its time. */
const poll = { timeout: 15_000 };
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};

/** `fast` is hermetic and belongs to `npm test`; `real` drives the pinned Codex binary, and plays what takes long. */
export default defineConfig({
  ...shared,
  test: {
    // Much of a test's time is that of the programs that it starts, and it waits for them.
    maxWorkers: 2 * availableParallelism(),
    // A worker that has held a long history takes its time to give it back.
    teardownTimeout: 60_000,
    coverage: { provider: "v8", include: ["packages/*/src/**", "packages/adapters/*/src/**"] },
    projects: [
      {
        ...shared,
        test: {
          name: "fast",
          globalSetup,
          setupFiles,
          expect: { poll },
          // Loading the source anew for each file costs as much as the tests. No test may leave anything behind.
          isolate: false,
          include: ["packages/**/*.test.ts", "tests/**/*.test.ts", "tools/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/dist/**", "tests/real/**", ...longTests, ...withoutRecordings],
          testTimeout: 60_000,
        },
      },
      {
        ...shared,
        test: {
          name: "real",
          globalSetup,
          setupFiles,
          expect: { poll },
          include: ["tests/real/**/*.test.ts", ...longTests],
          exclude: ["**/node_modules/**", ...harnessTests, ...withoutRecordings],
          testTimeout: 180_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        ...shared,
        test: {
          name: "harnesses",
          globalSetup,
          setupFiles,
          expect: { poll },
          include: harnessTests,
          testTimeout: 180_000,
          hookTimeout: 300_000,
          // Each test file has programs, homes and folders of its own. The programs are heavy: a processor for each.
          fileParallelism: true,
          maxWorkers: availableParallelism(),
        },
      },
    ],
  },
});
