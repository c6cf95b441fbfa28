import tseslint from "typescript-eslint";

/**
 * Parses a source with its scopes.
 * @param {string} path
 * @param {string} text
 */
export function parse(path, text) {
  const { ast, scopeManager, visitorKeys } = tseslint.parser.parseForESLint(text, {
    filePath: path,
    loc: true,
    range: true,
    sourceType: "module",
    lib: [],
  });
  return { ast, scopeManager, visitorKeys };
}

/**
 * Calls `visit` with every node and its parent, parents first.
 * @param {ReturnType<typeof parse>} source
 * @param {(node: any, parent: any) => void} visit
 */
export function walk({ ast, visitorKeys }, visit) {
  const step = (/** @type {any} */ node, /** @type {any} */ parent) => {
    visit(node, parent);
    for (const key of visitorKeys[node.type] ?? []) {
      for (const child of [node[key]].flat()) if (child !== null && child !== undefined) step(child, node);
    }
  };
  step(ast, null);
}

/**
 * The text of a string literal or of a template without substitutions; undefined for any other node.
 * @param {any} node
 * @returns {string | undefined}
 */
export function literalText(node) {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral" && node.quasis.length === 1) return node.quasis[0].value.cooked;
  return undefined;
}
