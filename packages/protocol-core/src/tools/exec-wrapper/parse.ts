import { type AnyNode, Parser, type Program } from "acorn";

/** Bounds of one reading; all have defaults that keep it well under a second. */
export interface ExecLimits {
  /** Longest program read, in UTF-16 units. */
  readonly maxSourceLength?: number;
  /** Most syntax nodes a program may have. */
  readonly maxNodes?: number;
  /** Array items and object keys that static evaluation may copy or join, for the whole program. */
  readonly maxSteps?: number;
  /** Longest string that static evaluation may build, in UTF-16 units. */
  readonly maxStringLength?: number;
}

const DEFAULT_MAX_SOURCE_LENGTH = 8_000_000;
const DEFAULT_MAX_NODES = 500_000;

export type Parsed = { readonly ok: true; readonly program: Program } | { readonly ok: false; readonly message: string };

/**
 * Parses code-mode source as the runtime does: a strict ES module with top-level await and without
 * top-level return. Never throws: syntax errors, too deep nesting and too large programs give a message.
 */
export function parseProgram(source: string, limits: ExecLimits = {}): Parsed {
  if (source.length > (limits.maxSourceLength ?? DEFAULT_MAX_SOURCE_LENGTH)) {
    return { ok: false, message: "program too long" };
  }
  nodesLeft = limits.maxNodes ?? DEFAULT_MAX_NODES;
  try {
    return { ok: true, program: BoundedParser.parse(source, { ecmaVersion: "latest", sourceType: "module" }) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : "syntax error" };
  }
}

/** Parsing is synchronous, so one counter serves every parser. */
let nodesLeft = 0;

/** The members of acorn's parser that the bounds below hook into; acorn's plugins work by overriding them. */
interface ParserInternals {
  readonly scopeStack: { var: NameList | string[]; lexical: NameList | string[]; functions: NameList | string[] }[];
  enterScope(flags: number): void;
  finishNode(node: AnyNode, type: string): AnyNode;
  parseExprOp(left: AnyNode, start: number, startLocation: unknown, minPrecedence: number, forInit: unknown): AnyNode;
}

type InternalsClass = new (...args: never[]) => ParserInternals;

const BoundedParser = Parser.extend((base) => {
  const Base = base as unknown as InternalsClass;
  class Bounded extends Base {
    chain: { start: number; minPrecedence: number } | undefined;

    /** acorn looks names up in arrays, which makes a program of many declarations quadratic. */
    override enterScope(flags: number): void {
      super.enterScope(flags);
      const scope = this.scopeStack.at(-1)!;
      scope.var = new NameList();
      scope.lexical = new NameList();
      scope.functions = new NameList();
    }

    override finishNode(node: AnyNode, type: string): AnyNode {
      nodesLeft -= 1;
      if (nodesLeft < 0) throw new Error("program too large");
      return super.finishNode(node, type);
    }

    /** acorn recurses once per operator of `a + b + c …`; answering its tail call here makes that a loop. */
    override parseExprOp(left: AnyNode, start: number, startLocation: unknown, minPrecedence: number, forInit: unknown): AnyNode {
      const outer = this.chain;
      if (outer?.start === start && outer.minPrecedence === minPrecedence) return left;
      this.chain = { start, minPrecedence };
      for (let current = left; ; ) {
        const next = super.parseExprOp(current, start, startLocation, minPrecedence, forInit);
        if (next === current) {
          this.chain = outer;
          return current;
        }
        current = next;
      }
    }
  }
  return Bounded as unknown as typeof Parser;
});

/** The part of an array that acorn's scopes use, with constant cost. */
class NameList {
  readonly #names = new Set<string>();
  0: string | undefined;

  push(name: string): void {
    if (this.#names.size === 0) this[0] = name;
    this.#names.add(name);
  }

  indexOf(name: string): number {
    return this.#names.has(name) ? 0 : -1;
  }
}
