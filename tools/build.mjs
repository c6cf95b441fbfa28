#!/usr/bin/env node
// Bundles the command line into packages/host-runtime/dist: our own packages inside, real dependencies outside, one
// chunk for each lazily imported part, so that a command loads only what it needs.

import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const host = join(root, "packages", "host-runtime");
/** @type {{ dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} */
const manifest = JSON.parse(readFileSync(join(host, "package.json"), "utf8"));
const declared = new Set(
  [manifest.dependencies, manifest.optionalDependencies, manifest.peerDependencies].flatMap((list) => Object.keys(list ?? {})),
);

/** Bundled although declared: as a hundred small modules it takes longer to load than Node itself. */
const BUNDLED = ["zod"];

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

// npm packs these two from the package's own folder only.
for (const name of ["LICENSE", "README.md"]) copyFileSync(join(root, name), join(host, name));
rmSync(join(host, "dist"), { recursive: true, force: true });
const result = await build({
  absWorkingDir: host,
  entryPoints: { cli: "src/cli/main.ts" },
  outdir: "dist",
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
cpSync(join(root, "packages", "feishu-channel", "src", "fake", "demo", "page"), join(host, "dist", "chunks", "page"), { recursive: true });
writeLicences();
const code = Object.entries(result.metafile.outputs).filter(([path]) => path.endsWith(".js"));
const bytes = code.reduce((sum, [, output]) => sum + output.bytes, 0);
console.log(`dist/cli.js and ${String(code.length - 1)} lazy or shared chunks, ${String(Math.round(bytes / 1024))} KiB`);

/** What is bundled must bring its licence along. */
function writeLicences() {
  const require = createRequire(join(host, "package.json"));
  const texts = BUNDLED.map((name) => `${name}\n\n${readFileSync(join(dirname(require.resolve(`${name}/package.json`)), "LICENSE"), "utf8")}`);
  mkdirSync(join(host, "dist"), { recursive: true });
  writeFileSync(join(host, "dist", "THIRD-PARTY-LICENSES.txt"), texts.join("\n\n"));
}
