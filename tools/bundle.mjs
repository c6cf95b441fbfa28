// How the command line becomes files that Node runs: our own packages inside, real dependencies outside, one chunk for
// each lazily imported part, so that a command loads only what it needs.

import { cpSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
export const HOST = join(root, "packages", "host-runtime");
/** @type {{ dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} */
const manifest = JSON.parse(readFileSync(join(HOST, "package.json"), "utf8"));
const declared = new Set(
  [manifest.dependencies, manifest.optionalDependencies, manifest.peerDependencies].flatMap((list) => Object.keys(list ?? {})),
);

/** Bundled although declared: as a hundred small modules it takes longer to load than Node itself. */
export const BUNDLED = ["zod"];

/**
 * Leaves declared dependencies to the installation. An undeclared one would work here and fail at the user's, so it
 * is an error.
 * @type {import("esbuild").Plugin}
 */
const externals = {
  name: "declared-dependencies",
  setup(hooks) {
    hooks.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      if (kind === "entry-point" || path.startsWith("@foldcast/")) return undefined;
      // Modules of a bundled dependency import their own relatives only.
      if (BUNDLED.some((name) => path === name || path.startsWith(`${name}/`))) return undefined;
      if (isBuiltin(path)) return { path: path.startsWith("node:") ? path : `node:${path}`, external: true };
      const name = path.split("/", path.startsWith("@") ? 2 : 1).join("/");
      if (declared.has(name)) return { path, external: true, sideEffects: false };
      return { errors: [{ text: `"${name}" is no dependency of packages/host-runtime/package.json (imported by ${importer})` }] };
    });
  },
};

/**
 * Bundles the command line; `outdir` must stand where the dependencies of packages/host-runtime are found.
 * @param {string} outdir absolute; gets `cli.js` and `chunks/`
 * @returns what was written, and from what
 */
export async function bundle(outdir) {
  const result = await build({
    absWorkingDir: HOST,
    entryPoints: { cli: "src/cli/main.ts" },
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    conditions: ["@foldcast/source"],
    plugins: [externals],
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: "warning",
  });
  // The Feishu demo reads its page from beside its own chunk.
  cpSync(join(root, "packages", "feishu-channel", "src", "fake", "demo", "page"), join(outdir, "chunks", "page"), { recursive: true });
  return result.metafile;
}
