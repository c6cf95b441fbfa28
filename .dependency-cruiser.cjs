/**
 * Which way imports may point, for dependency-cruiser. What a path pattern cannot see (names, clocks, the way an
 * import is written) is checked by tools/boundaries/source-rules.mjs; tools/check-boundaries.mjs runs both.
 */

const TEST_FILE = "\\.test\\.ts$|/test-support/";
const CORE = "^packages/protocol-core/";
const HOST = "^packages/host-runtime/";
const KIT = "^packages/adapters/kit/";
const REGISTRY = "^packages/adapters/registry/";
const CHANNEL = "^packages/feishu-channel/";
const COMPOSITION_ROOT = "^packages/host-runtime/src/cli/";

/** Names of one rule share a prefix with its reason, since a fault is printed by name. */
module.exports = {
  forbidden: [
    {
      name: "core-imports-nothing-above",
      comment: "protocol-core is the bottom: it knows no adapter, host or channel.",
      severity: "error",
      from: { path: CORE },
      to: { path: "^packages/", pathNot: CORE },
    },
    {
      name: "core-no-node-builtin",
      comment: "protocol-core runs in a browser worker too.",
      severity: "error",
      from: { path: CORE, pathNot: TEST_FILE },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "core-no-node-builtin",
      comment: "The same for one that only a newer Node has.",
      severity: "error",
      from: { path: CORE, pathNot: TEST_FILE },
      to: { couldNotResolve: true, path: "^node:" },
    },
    {
      name: "nothing-imports-host",
      comment: "The host is the top. A channel or an adapter reaches it through the protocol only.",
      severity: "error",
      from: { path: "^packages/", pathNot: HOST },
      to: { path: HOST },
    },
    {
      name: "adapters-never-import-each-other",
      comment: "What several harnesses share lives in adapters/kit.",
      severity: "error",
      from: { path: "^packages/adapters/([^/]+)/", pathNot: REGISTRY },
      to: { path: "^packages/adapters/", pathNot: ["^packages/adapters/$1/", KIT] },
    },
    {
      name: "adapters-import-core-and-kit-only",
      comment: "An adapter knows the contract, not who runs it.",
      severity: "error",
      from: { path: "^packages/adapters/" },
      to: { path: "^packages/", pathNot: [CORE, "^packages/adapters/", HOST] },
    },
    {
      name: "only-the-command-line-composes",
      comment: "Which harnesses and channels exist is decided in host-runtime/src/cli alone.",
      severity: "error",
      from: { path: "^packages/", pathNot: [COMPOSITION_ROOT, REGISTRY, CHANNEL, TEST_FILE] },
      to: { path: [REGISTRY, CHANNEL] },
    },
    {
      name: "host-knows-no-adapter",
      comment: "The host gets its adapters from the registry; harness differences end at the contract.",
      severity: "error",
      from: { path: HOST },
      to: { path: "^packages/adapters/", pathNot: [KIT, REGISTRY] },
    },
    {
      name: "channel-imports-core-only",
      comment: "A channel is a client like any other.",
      severity: "error",
      from: { path: CHANNEL },
      to: { path: "^packages/", pathNot: [CORE, CHANNEL, HOST] },
    },
    {
      name: "product-imports-no-tooling",
      comment: "tools/ and tests/ are not shipped.",
      severity: "error",
      from: { path: "^packages/", pathNot: TEST_FILE },
      to: { path: "^(tools|tests)/" },
    },
    {
      name: "import-resolves",
      comment: "An unresolved import would slip through every other rule.",
      severity: "error",
      from: { path: "^packages/" },
      // A built-in module of a newer Node does not resolve on the oldest one that is supported.
      to: { couldNotResolve: true, pathNot: "^node:" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "/dist/" },
    // Type-only imports count: a type from above is as much of a dependency.
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@foldcast/source", "types", "import", "node", "default"],
      extensions: [".ts", ".mts", ".js", ".mjs", ".cjs", ".json"],
    },
  },
};
