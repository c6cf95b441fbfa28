import { defineConfig } from "vitest/config";

const conditions = ["@foldcast/source", "module", "node", "import", "default"];
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};

/** `fast` is hermetic and belongs to `npm test`; `real` drives the pinned Codex binary and harness programs. */
export default defineConfig({
  ...shared,
  test: {
    coverage: { provider: "v8", include: ["packages/*/src/**", "packages/adapters/*/src/**"] },
    projects: [
      {
        ...shared,
        test: {
          name: "fast",
          include: ["packages/**/*.test.ts", "tests/**/*.test.ts", "tools/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/dist/**", "tests/real/**"],
          testTimeout: 20_000,
        },
      },
      {
        ...shared,
        test: {
          name: "real",
          include: ["tests/real/**/*.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
