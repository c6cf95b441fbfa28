/**
 * The words of `codex` that decide where a command line goes, as Codex 0.171 has them. Options of newer releases are not
 * known here: before the subcommand they make the command line the real program's, behind it they are handed on.
 */
export interface CodexWords {
  /** Options with a value: the next word, or behind `=`, or for a short one in the same word. */
  values: readonly string[];
  flags: readonly string[];
}

/** Options of ours and of Codex that go before the subcommand and count for every one. */
export const SHARED_WORDS: CodexWords = { values: ["-c", "--config", "--enable", "--disable"], flags: ["--strict-config"] };

/** Before the subcommand. Codex ignores those for its TUI when an app-server follows; `--image` takes any number of words. */
export const ROOT_WORDS: CodexWords = {
  values: [...SHARED_WORDS.values, "-m", "--model", "--local-provider", "-s", "--sandbox", "-C", "--cd", "--add-dir", "-a", "--ask-for-approval"],
  flags: [
    ...SHARED_WORDS.flags, "--oss", "--approve-for-me", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--worktree", "--search",
    "--no-alt-screen", "--no-daemon",
  ],
};

/** Behind `app-server`. */
export const APP_SERVER_WORDS: CodexWords = {
  values: [
    ...SHARED_WORDS.values, "--listen", "--startup-client-info", "--cloud-skills-snapshot", "--code-mode-host", "--ws-auth", "--ws-token-file", "--ws-token-sha256",
    "--ws-shared-secret-file", "--ws-issuer", "--ws-audience", "--ws-max-clock-skew-seconds",
  ],
  flags: [...SHARED_WORDS.flags, "--startup-sign-out", "--stdio", "--analytics-default-enabled"],
};

/** Behind `app-server`: what is no server but another command of the real program. */
export const APP_SERVER_COMMANDS: readonly string[] = [
  "daemon", "proxy", "generate-ts", "generate-json-schema", "generate-internal-json-schema", "help", "--print-startup-config", "-h", "--help", "-V", "--version", "--",
];

/** How many words an option takes together with its value; null = it is none of these. */
export function lengthOf(word: string, { values, flags }: CodexWords): 1 | 2 | null {
  if (flags.includes(word)) return 1;
  if (values.includes(word)) return 2;
  return values.some((name) => (name.startsWith("--") ? word.startsWith(`${name}=`) : word.startsWith(name))) ? 1 : null;
}

/** The options behind `app-server`, each with its value, that the other command line does not have word for word. */
export function missingWords(words: readonly string[], others: readonly string[]): string[] {
  const known = new Set(optionsIn(others));
  return optionsIn(words).filter((option) => !known.has(option));
}

function optionsIn(words: readonly string[]): string[] {
  const options: string[] = [];
  for (let at = 0; at < words.length; ) {
    const length = lengthOf(words[at]!, APP_SERVER_WORDS) ?? 1;
    options.push(words.slice(at, at + length).join(" "));
    at += length;
  }
  return options;
}
