import type { AnyNode, Identifier, Pattern, Program } from "acorn";
import { childNodes, isFunction, readPattern, type Step } from "./ast.ts";

/** A name of the program itself. */
export interface Binding {
  /** `value`: initialised once where it is declared; `function`: a function or class; `opaque`: anything else. */
  readonly kind: "value" | "function" | "opaque";
  readonly node: AnyNode;
  readonly init: AnyNode | null;
  readonly steps: readonly Step[];
  /** The innermost function around the declaration; uses in others may run at any time. */
  readonly owner: AnyNode;
  /** Position from which a use in the same function sees the value. */
  readonly readyAt: number;
  reassigned: boolean;
  /** Right sides of plain assignments to the name. */
  readonly assigned: AnyNode[];
}

export interface Reference {
  readonly binding: Binding | null;
  readonly owner: AnyNode;
}

export interface Names {
  /** For each identifier that is read or assigned: the program's own binding, or `null` for a global. */
  readonly references: ReadonlyMap<Identifier, Reference>;
  /** The binding behind each identifier of a variable declaration. */
  readonly declared: ReadonlyMap<Identifier, Binding>;
}

interface Scope {
  readonly names: Map<string, Binding>;
  readonly parent: Scope | null;
  readonly owner: AnyNode;
  readonly node: AnyNode;
}

/** Resolves all names of a program by lexical scoping. Iterative: long operator chains nest deeply. */
export function resolveNames(program: Program): Names {
  const declared = new Map<Identifier, Binding>();
  const uses: { identifier: Identifier; scope: Scope }[] = [];
  const assignments: { identifier: Identifier; value: AnyNode | null }[] = [];
  const open: { node: AnyNode; scope: Scope }[] = [];
  const visit = (node: AnyNode | null | undefined, scope: Scope): void => {
    if (node !== null && node !== undefined) open.push({ node, scope });
  };
  const assign = (pattern: Pattern, value: AnyNode | null, scope: Scope): void => {
    const { targets, expressions } = readPattern(pattern);
    for (const { target } of targets) {
      visit(target, scope);
      if (target.type === "Identifier") assignments.push({ identifier: target, value: pattern === target ? value : null });
    }
    for (const expression of expressions) visit(expression, scope);
  };

  const top: Scope = { names: new Map(), parent: null, owner: program, node: program };
  for (const statement of program.body) visit(statement, top);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node } = next;
    const outer = next.scope;
    const inner = opensScope(node) ? enter(node, outer) : outer;
    switch (node.type) {
      case "Identifier":
        uses.push({ identifier: node, scope: outer });
        break;
      case "VariableDeclaration":
        for (const { id, init, end } of node.declarations) {
          declareVariable(id, init ?? null, end, node.kind === "var", outer, visit, declared);
          visit(init, outer);
        }
        continue;
      case "MemberExpression":
        visit(node.object, outer);
        if (node.computed) visit(node.property, outer);
        continue;
      case "Property":
      case "PropertyDefinition":
      case "MethodDefinition":
        if (node.computed) visit(node.key, outer);
        visit(node.value, outer);
        continue;
      case "FunctionDeclaration":
      case "ClassDeclaration":
        if (node.id !== null) declare(outer, node.id.name, opaque(node, outer, "function"));
        break;
      case "FunctionExpression":
      case "ClassExpression":
        if (node.id !== null && node.id !== undefined) declare(inner, node.id.name, opaque(node, inner, "function"));
        break;
      case "CatchClause":
        if (node.param !== null && node.param !== undefined) declareOpaque(node.param, inner, visit);
        visit(node.body, inner);
        continue;
      case "ForInStatement":
      case "ForOfStatement":
        visit(node.right, inner);
        visit(node.body, inner);
        if (node.left.type === "VariableDeclaration") {
          for (const declarator of node.left.declarations) declareOpaque(declarator.id, inner, visit);
        } else {
          assign(node.left, null, inner);
        }
        continue;
      case "AssignmentExpression":
        assign(node.left, node.operator === "=" ? node.right : null, outer);
        visit(node.right, outer);
        continue;
      case "UpdateExpression":
        if (node.argument.type === "Identifier") assignments.push({ identifier: node.argument, value: null });
        break;
      case "LabeledStatement":
        visit(node.body, outer);
        continue;
      case "BreakStatement":
      case "ContinueStatement":
      case "MetaProperty":
      case "ExportAllDeclaration":
        continue;
      case "ImportDeclaration":
        for (const { local } of node.specifiers) declare(outer, local.name, opaque(node, outer));
        continue;
      case "ExportNamedDeclaration":
        visit(node.declaration, outer);
        continue;
      default:
        break;
    }
    if (node.type === "FunctionDeclaration" || node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression") {
      for (const parameter of node.params) declareOpaque(parameter, inner, visit);
      visit(node.body, inner);
    } else if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
      visit(node.superClass, inner);
      visit(node.body, inner);
    } else if (node.type !== "Identifier") {
      for (const child of childNodes(node)) visit(child, inner);
    }
  }

  const references = new Map<Identifier, Reference>();
  for (const { identifier, scope } of uses) {
    references.set(identifier, { binding: lookUp(identifier.name, scope), owner: scope.owner });
  }
  for (const { identifier, value } of assignments) {
    const binding = references.get(identifier)?.binding;
    if (binding === null || binding === undefined) continue;
    binding.reassigned = true;
    if (value !== null) binding.assigned.push(value);
  }
  return { references, declared };
}

type Visit = (node: AnyNode | null | undefined, scope: Scope) => void;

function opensScope(node: AnyNode): boolean {
  switch (node.type) {
    case "BlockStatement":
    case "StaticBlock":
    case "SwitchStatement":
    case "CatchClause":
    case "ForStatement":
    case "ForInStatement":
    case "ForOfStatement":
    case "ClassDeclaration":
    case "ClassExpression":
      return true;
    default:
      return isFunction(node);
  }
}

function enter(node: AnyNode, parent: Scope): Scope {
  const owner = isFunction(node) || node.type === "StaticBlock" || node.type === "ClassDeclaration" || node.type === "ClassExpression" ? node : parent.owner;
  return { names: new Map(), parent, owner, node };
}

function declare(scope: Scope, name: string, binding: Binding): Binding {
  const known = scope.names.get(name);
  if (known === undefined) {
    scope.names.set(name, binding);
    return binding;
  }
  known.reassigned = true;
  return known;
}

function opaque(node: AnyNode, scope: Scope, kind: "function" | "opaque" = "opaque"): Binding {
  return { kind, node, init: null, steps: [], owner: scope.owner, readyAt: 0, reassigned: false, assigned: [] };
}

function declareOpaque(pattern: Pattern, scope: Scope, visit: Visit): void {
  const { targets, expressions } = readPattern(pattern);
  for (const { target } of targets) if (target.type === "Identifier") declare(scope, target.name, opaque(target, scope));
  for (const expression of expressions) visit(expression, scope);
}

function declareVariable(
  pattern: Pattern,
  init: AnyNode | null,
  readyAt: number,
  hoisted: boolean,
  scope: Scope,
  visit: Visit,
  declared: Map<Identifier, Binding>,
): void {
  const { targets, expressions } = readPattern(pattern);
  const home = hoisted ? functionScope(scope) : scope;
  // A `var` inside a block or loop may be read without its initialiser having run.
  const certain = !hoisted || home === scope || (home === scope.parent && scope.node.type === "BlockStatement" && isFunction(home.node));
  for (const { target, steps } of targets) {
    if (target.type !== "Identifier") continue;
    const kind = certain ? "value" : "opaque";
    const assigned = init === null ? [] : [init];
    const binding: Binding = { kind, node: target, init, steps, owner: home.owner, readyAt, reassigned: false, assigned };
    declared.set(target, declare(home, target.name, binding));
  }
  for (const expression of expressions) visit(expression, scope);
}

function functionScope(from: Scope): Scope {
  let scope = from;
  while (scope.parent !== null && scope.node.type !== "StaticBlock" && !isFunction(scope.node)) scope = scope.parent;
  return scope;
}

function lookUp(name: string, from: Scope): Binding | null {
  for (let scope: Scope | null = from; scope !== null; scope = scope.parent) {
    const binding = scope.names.get(name);
    if (binding !== undefined) return binding;
  }
  return null;
}
