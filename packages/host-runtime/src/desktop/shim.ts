import { STAND_IN_MARK } from "../native/program.ts";
import { APP_SERVER_COMMANDS, APP_SERVER_WORDS, ROOT_WORDS } from "../native/codex-words.ts";
import type { CodexWords } from "../native/codex-words.ts";

export interface ShimOptions {
  /** How foldcast is started: node with a whole path, its options, the main script. */
  foldcast: readonly string[];
  /** The real program; null where there was none when the shim was written. */
  codex: string | null;
  /** A model of ours that becomes the default; null = none. */
  model: string | null;
  /** Settings of ours that hold for this shim, by the name of their variable. */
  env: Readonly<Record<string, string>>;
}

/**
 * A program for the place of `codex`, as a script of the POSIX shell: `app-server` is foldcast, every other command line
 * goes to the real program as it stands. Either takes the place of the shell, so that streams, signals and the exit code
 * are its own. Needs no search path. It goes through the options as Codex 0.171 does; what is not known there is the
 * real program's, behind `app-server` it is foldcast's.
 */
export function shimScript({ foldcast, codex, model, env }: ShimOptions): string {
  const [node = "", ...rest] = foldcast;
  const main = rest.at(-1) ?? "";
  const words = [node, ...rest, ...(model === null ? [] : ["-c", `model=${model}`])].map(quoted).join(" ");
  return `#!/bin/sh
# ${STAND_IN_MARK}: \`codex app-server\` is foldcast, everything else is the real program.
# Written by \`foldcast desktop enable\`, removed by \`foldcast desktop disable\`.
codex=${quoted(codex ?? "")}
[ -x "$codex" ] || codex=$(${[node, ...rest].map(quoted).join(" ")} desktop codex 2>/dev/null)

at=root
value=
unknown=
for word in "$@"; do
  if [ -n "$value" ]; then value=; continue; fi
  case $at in
    root)
      case $word in
        ${patterns(ROOT_WORDS.values)}) value=1 ;;
        ${inOneWord(ROOT_WORDS)}) ;;
        ${patterns(ROOT_WORDS.flags)}) ;;
        app-server) at=server ;;
        *) at=real; break ;;
      esac ;;
    server)
      case $word in
        ${patterns(APP_SERVER_COMMANDS)}) at=real; break ;;
        ${patterns(APP_SERVER_WORDS.values)}) value=1; unknown= ;;
        ${patterns(APP_SERVER_WORDS.flags)}) unknown= ;;
        -*=*|-c?*) unknown= ;;
        -*) unknown=1 ;;
        *) if [ -z "$unknown" ]; then at=real; break; fi; unknown= ;;
      esac ;;
  esac
done

if [ "$at" = server ]; then
  if [ -x ${quoted(node)} ] && [ -r ${quoted(main)} ]; then
    if [ -n "$codex" ] && [ -z "$FOLDCAST_CODEX_BIN" ]; then FOLDCAST_CODEX_BIN=$codex; export FOLDCAST_CODEX_BIN; fi
${Object.entries(env).map(([name, setting]) => `    if [ -z "$${name}" ]; then ${name}=${quoted(setting)}; export ${name}; fi\n`).join("")}    exec ${words} "$@"
  fi
  echo "foldcast: ${shown(node)} or ${shown(main)} is gone; codex runs without foldcast until foldcast desktop enable is run again" >&2
fi
if [ -z "$codex" ]; then
  echo "foldcast: there is no codex program on this machine; install it, then run foldcast desktop enable" >&2
  exit 127
fi
exec "$codex" "$@"
`;
}

/** One word for the shell, whatever is in it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Inside double quotes. */
function shown(text: string): string {
  return text.replace(/["$`\\]/g, "\\$&");
}

function patterns(words: readonly string[]): string {
  return words.join("|");
}

function inOneWord({ values }: CodexWords): string {
  return values.map((name) => (name.startsWith("--") ? `${name}=*` : `${name}?*`)).join("|");
}
