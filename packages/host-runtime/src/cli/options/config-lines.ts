const NAMES = /"([^"]*)"|'([^']*)'|([\w-]+)/g;
const HEADER = /^\s*\[\[?([^\]]+)\]/;
const KEY = /^\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=/;

/** The line of a TOML text, from 1, in which a table or a key is written; null where none can be found. Names from the outside in. */
export function lineOf(text: string, names: readonly string[]): number | null {
  let table: string[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    const header = HEADER.exec(line)?.[1];
    if (header !== undefined) {
      table = namesIn(header);
      if (beginsWith(table, names)) return at + 1;
    }
    const key = KEY.exec(line)?.[1];
    if (key === undefined) continue;
    const path = [...table, ...namesIn(key)];
    // A dotted key stands for its tables, and an inline table holds keys.
    if (beginsWith(path, names) || beginsWith(names, path)) return at + 1;
  }
  return null;
}

function namesIn(text: string): string[] {
  return [...text.matchAll(NAMES)].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
}

function beginsWith(path: readonly string[], names: readonly string[]): boolean {
  return names.every((name, at) => path[at] === name);
}
