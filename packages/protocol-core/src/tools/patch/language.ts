const BY_SUFFIX: Readonly<Record<string, string>> = Object.assign(Object.create(null) as Record<string, string>, {
  bash: "bash", c: "c", cc: "cpp", cfg: "ini", cjs: "javascript", clj: "clojure", cmake: "cmake", cpp: "cpp",
  cs: "csharp", css: "css", csv: "csv", cts: "typescript", cxx: "cpp", dart: "dart", diff: "diff", ex: "elixir",
  exs: "elixir", fish: "fish", fs: "fsharp", go: "go", gradle: "groovy", graphql: "graphql", h: "c", hpp: "cpp",
  hs: "haskell", htm: "html", html: "html", ini: "ini", ipynb: "json", java: "java", jl: "julia", js: "javascript",
  json: "json", json5: "json5", jsonc: "jsonc", jsonl: "json", jsx: "jsx", kt: "kotlin", kts: "kotlin", less: "less",
  lua: "lua", m: "objectivec", markdown: "markdown", md: "markdown", mdx: "mdx", mjs: "javascript", ml: "ocaml",
  mm: "objectivec", mts: "typescript", nim: "nim", nix: "nix", patch: "diff", php: "php", pl: "perl", proto: "protobuf",
  ps1: "powershell", py: "python", pyi: "python", r: "r", rb: "ruby", rs: "rust", sass: "sass", scala: "scala",
  scss: "scss", sh: "bash", sql: "sql", svelte: "svelte", svg: "xml", swift: "swift", tex: "latex", tf: "hcl",
  toml: "toml", ts: "typescript", tsx: "tsx", vue: "vue", xml: "xml", yaml: "yaml", yml: "yaml", zig: "zig",
  zsh: "zsh",
});

const BY_NAME: Readonly<Record<string, string>> = Object.assign(Object.create(null) as Record<string, string>, {
  "cmakelists.txt": "cmake", dockerfile: "dockerfile", gemfile: "ruby", makefile: "makefile", rakefile: "ruby",
});

/** Language hint for highlighting, from the file's name or suffix; `null` when it says nothing. */
export function languageOfPath(path: string): string | null {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  return BY_NAME[name] ?? (dot === -1 ? undefined : BY_SUFFIX[name.slice(dot + 1)]) ?? null;
}
