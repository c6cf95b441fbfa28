import { readdirSync } from "node:fs";
import { join } from "node:path";

const SKIPPED = new Set(["node_modules", "dist", "coverage"]);

/**
 * TypeScript files of the packages, relative to the root with forward slashes, sorted.
 * @param {string} root
 * @returns {string[]}
 */
export function listSources(root) {
  /** @param {string} folder @returns {string[]} */
  const walk = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(path);
      return entry.isFile() && entry.name.endsWith(".ts") ? [path] : [];
    });
  return walk("packages").sort();
}

/** @param {string} path */
export function isTestFile(path) {
  return path.endsWith(".test.ts") || path.includes("/test-support/");
}

/**
 * The package that a file belongs to, as its folder.
 * @param {string} path relative to the root
 */
export function packageFolder(path) {
  return /^packages\/(?:adapters\/)?[^/]+/.exec(path)?.[0] ?? "";
}
