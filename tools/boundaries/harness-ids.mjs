import { readFileSync } from "node:fs";
import { join } from "node:path";
import { literalText, parse, walk } from "./syntax.mjs";

const REGISTRY = "packages/adapters/registry/src/index.ts";
const TOOL_MAPS = "packages/adapters/registry/src/tool-maps.ts";

/**
 * Ids of the harnesses that the registry knows, read from its source: the `id` of every entry with a `load`, and the
 * keys of the tool-name maps. An entry whose id is no literal is a fault, since the check of names would be blind
 * for it.
 * @param {string} root
 * @param {string[]} sources
 */
export function registeredHarnessIds(root, sources) {
  /** @type {Set<string>} */
  const ids = new Set();
  /** @type {{ path: string, line?: number, rule: string, message: string }[]} */
  const faults = [];
  const refuse = (/** @type {string} */ path, /** @type {string} */ message) => faults.push({ path, rule: "registry-is-readable", message });
  const read = (/** @type {string} */ path) => parse(path, readFileSync(join(root, path), "utf8"));

  if (sources.includes(REGISTRY)) {
    let entries = 0;
    walk(read(REGISTRY), (node) => {
      const members = membersOf(node);
      if (!members.has("load")) return;
      entries++;
      const id = literalText(members.get("id"));
      if (id === undefined) refuse(REGISTRY, "has an entry without a literal id");
      else ids.add(id);
    });
    if (entries === 0) refuse(REGISTRY, "lists no harness");
  } else refuse(REGISTRY, "is missing, so no harness name is known");

  if (sources.includes(TOOL_MAPS)) {
    walk(read(TOOL_MAPS), (node) => {
      if (node.type !== "VariableDeclarator" || node.id.name !== "toolMaps") return;
      for (const id of membersOf(node.init).keys()) ids.add(id);
    });
  }
  return { ids, faults };
}

/**
 * Members of an object literal by name; empty for any other node.
 * @param {any} node
 * @returns {Map<string, any>}
 */
function membersOf(node) {
  if (node?.type !== "ObjectExpression") return new Map();
  return new Map(node.properties.map((/** @type {any} */ member) => [member.key?.name ?? String(member.key?.value), member.value]));
}
