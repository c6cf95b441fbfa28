import { type Finder, type Finding, UNKNOWN } from "./findings.ts";
import { displayName } from "./paths.ts";
import { connectorIndex, operandsOf, type ValueFlags } from "./words.ts";

const EXA_VALUE_FLAGS: ValueFlags = new Set(["-I", "--ignore-glob", "--color", "--sort", "--time-style", "--time"]);

const VALUE_FLAGS = {
  ls: new Set(["-I", "-w", "--block-size", "--format", "--time-style", "--color", "--quoting-style"]),
  tree: new Set(["-L", "-P", "-I", "--charset", "--filelimit", "--sort"]),
  du: new Set(["-d", "--max-depth", "-B", "--block-size", "--exclude", "--time-style"]),
  gitLsFiles: new Set(["--exclude", "--exclude-from", "--pathspec-from-file"]),
} satisfies Record<string, ValueFlags>;

/** Calls that walk a directory tree, by which an inline Python script is taken for a listing. */
const PYTHON_WALKS = ["os.walk", "os.listdir", "os.scandir", "glob.glob", "glob.iglob", "pathlib.Path", ".rglob("];

/** Commands that list files, by name (Codex 0.171 behaviour). The path is the first operand, shortened. */
export const LISTING_COMMANDS: Readonly<Record<string, Finder>> = {
  ls: (words) => listing(words, 1, VALUE_FLAGS.ls),
  eza: (words) => listing(words, 1, EXA_VALUE_FLAGS),
  exa: (words) => listing(words, 1, EXA_VALUE_FLAGS),
  tree: (words) => listing(words, 1, VALUE_FLAGS.tree),
  du: (words) => listing(words, 1, VALUE_FLAGS.du),
};

/** `git ls-files …`; `words[1]` is the subcommand. */
export function gitListing(words: readonly string[]): Finding {
  return listing(words, 2, VALUE_FLAGS.gitLsFiles);
}

export function isPython(name: string): boolean {
  return (
    name.startsWith("python") &&
    (name === "python" ||
      name === "python2" ||
      name === "python3" ||
      name.startsWith("python2.") ||
      name.startsWith("python3."))
  );
}

/** An inline script (`-c`) that walks directories lists files; only the first `-c` with a script counts. */
export function pythonListing(words: readonly string[]): Finding {
  const flag = words.indexOf("-c", 1);
  const end = connectorIndex(words, 1);
  if (flag === -1 || flag + 1 >= end) return UNKNOWN;
  const script = words[flag + 1] ?? "";
  return PYTHON_WALKS.some((call) => script.includes(call)) ? { type: "listFiles", path: null } : UNKNOWN;
}

function listing(words: readonly string[], from: number, valueFlags: ValueFlags): Finding {
  const path = operandsOf(words, from, valueFlags)[0];
  return { type: "listFiles", path: path === undefined ? null : displayName(path) };
}
