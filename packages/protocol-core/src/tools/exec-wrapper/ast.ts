import type { AnyNode, Identifier, MemberExpression, Pattern } from "acorn";

/** Child nodes in the order they stand in the source, save for a template's literal parts, which are left out. */
export function childNodes(node: AnyNode): AnyNode[] {
  const children: AnyNode[] = [];
  // `for in` over the node's own fields: this is the reader's hottest loop.
  for (const key in node) {
    if (key === "type" || key === "start" || key === "end" || key === "quasis") continue;
    const value = (node as unknown as Record<string, unknown>)[key];
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) {
      for (const entry of value) if (isNode(entry)) children.push(entry);
    } else if (isNode(value)) {
      children.push(value);
    }
  }
  return children;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

export function isFunction(node: AnyNode): boolean {
  return node.type === "FunctionDeclaration" || node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression";
}

/** Way from a destructured value to one of its bindings. */
export type Step =
  | { readonly kind: "key"; readonly key: AnyNode; readonly computed: boolean }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "rest-object"; readonly taken: readonly { readonly key: AnyNode; readonly computed: boolean }[] }
  | { readonly kind: "rest-array"; readonly from: number }
  | { readonly kind: "default"; readonly value: AnyNode };

export interface PatternTarget {
  readonly target: Identifier | MemberExpression;
  readonly steps: readonly Step[];
}

/** What a binding or assignment pattern binds, and the expressions inside it (defaults, computed keys). */
export interface PatternParts {
  readonly targets: readonly PatternTarget[];
  readonly expressions: readonly AnyNode[];
}

export function readPattern(pattern: Pattern): PatternParts {
  const targets: PatternTarget[] = [];
  const expressions: AnyNode[] = [];
  const open: { pattern: Pattern; steps: readonly Step[] }[] = [{ pattern, steps: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { steps } = next;
    const node = next.pattern;
    switch (node.type) {
      case "Identifier":
      case "MemberExpression":
        targets.push({ target: node, steps });
        break;
      case "AssignmentPattern":
        expressions.push(node.right);
        open.push({ pattern: node.left, steps: [...steps, { kind: "default", value: node.right }] });
        break;
      case "RestElement":
        open.push({ pattern: node.argument, steps });
        break;
      case "ArrayPattern":
        node.elements.forEach((element, index) => {
          if (element === null) return;
          const step: Step = element.type === "RestElement" ? { kind: "rest-array", from: index } : { kind: "index", index };
          open.push({ pattern: element, steps: [...steps, step] });
        });
        break;
      case "ObjectPattern": {
        const taken: { key: AnyNode; computed: boolean }[] = [];
        for (const property of node.properties) {
          if (property.type === "RestElement") {
            open.push({ pattern: property.argument, steps: [...steps, { kind: "rest-object", taken }] });
            continue;
          }
          const { key, computed } = property;
          if (computed) expressions.push(key);
          taken.push({ key, computed });
          open.push({ pattern: property.value, steps: [...steps, { kind: "key", key, computed }] });
        }
        break;
      }
    }
  }
  return { targets, expressions };
}
