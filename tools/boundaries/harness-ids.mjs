import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isTestFile } from "./sources.mjs";
import { literalText, parse, walk } from "./syntax.mjs";

const REGISTRY = "packages/adapters/registry/src/index.ts";

/**
 * Ids of the harnesses that the registry lists, read from the source: the adapter packages that the registry imports,
 * and in each of them every object with `id`, `displayName` and `capabilities` (a manifest). An adapter in which no
 * manifest is found is a fault, since the check of names would be blind for it.
 * @param {string} root
 * @param {string[]} sources
 */
export function registeredHarnessIds(root, sources) {
  /** @type {Set<string>} */
  const ids = new Set();
  /** @type {{ path: string, line?: number, rule: string, message: string }[]} */
  const faults = [];
  if (!sources.includes(REGISTRY)) {
    faults.push({ path: REGISTRY, rule: "registry-is-readable", message: "is missing, so no harness name is known" });
    return { ids, faults };
  }
  for (const folder of importedAdapters(readFileSync(join(root, REGISTRY), "utf8"))) {
    const found = sources
      .filter((path) => path.startsWith(`${folder}/src/`) && !isTestFile(path))
      .flatMap((path) => manifestIds(path, readFileSync(join(root, path), "utf8")));
    if (found.length === 0) faults.push({ path: folder, rule: "registry-is-readable", message: "has no manifest with a literal id" });
    for (const id of found) ids.add(id);
  }
  return { ids, faults };
}

/** @param {string} text */
function importedAdapters(text) {
  const names = [...text.matchAll(/["']@foldcast\/adapter-([a-z0-9-]+)["']/g)].map((match) => match[1]);
  return [...new Set(names)].filter((name) => name !== "kit").map((name) => `packages/adapters/${name}`);
}

/** @param {string} path @param {string} text */
function manifestIds(path, text) {
  /** @type {string[]} */
  const ids = [];
  walk(parse(path, text), (node) => {
    if (node.type !== "ObjectExpression") return;
    const members = new Map(node.properties.map((/** @type {any} */ member) => [member.key?.name ?? member.key?.value, member.value]));
    const id = literalText(members.get("id"));
    if (id !== undefined && members.has("displayName") && members.has("capabilities")) ids.push(id);
  });
  return ids;
}
