#!/usr/bin/env node
// Bundles the command line into packages/host-runtime/dist: our own packages inside, real dependencies outside, one
// chunk for each lazily imported part, so that a command loads only what it needs.

import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const host = join(root, "packages", "host-runtime");
/** @type {{ dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} */
const manifest = JSON.parse(readFileSync(join(host, "package.json"), "utf8"));
const declared = new Set(
  [manifest.dependencies, manifest.optionalDependencies, manifest.peerDependencies].flatMap((list) => Object.keys(list ?? {})),
);

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
const code = Object.entries(result.metafile.outputs).filter(([path]) => path.endsWith(".js"));
const bytes = code.reduce((sum, [, output]) => sum + output.bytes, 0);
console.log(`dist/cli.js and ${String(code.length - 1)} lazy or shared chunks, ${String(Math.round(bytes / 1024))} KiB`);
