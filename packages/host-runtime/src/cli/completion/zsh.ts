import { quoted } from "./model.ts";
import type { Offer, ShellCommand, ShellOption } from "./model.ts";

/** To be sourced, or kept as a file `_foldcast` in a folder of `fpath`. */
export function zshCompletion(commands: readonly ShellCommand[]): string {
  return `#compdef foldcast
# Completion of foldcast for zsh: source <(foldcast completion zsh), after compinit

_foldcast() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  if (( CURRENT == 2 )); then
    local -a commands
    commands=(
${commands.map(({ name, does }) => `      ${quoted(`${name}:${does}`)}`).join("\n")}
    )
    _describe -t commands command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${commands.map((command) => `    ${command.name})\n      _arguments -s \\\n        ${argumentsOf(command).join(" \\\n        ")}\n      ;;`).join("\n")}
    *) _files ;;
  esac
}

if [[ "$funcstack[1]" == _foldcast ]]; then
  _foldcast "$@"
else
  compdef _foldcast foldcast
fi
`;
}

function argumentsOf({ options, verbs, operands }: ShellCommand): string[] {
  const verb = verbs.map(({ name, does }) => `${name}\\:${quotedWithin(does)}`).join(" ");
  const first = verbs.length === 0 ? [] : [quoted(`1:what to do:((${verb}))`)];
  return [...options.flatMap(optionOf), ...first, quoted(`*:operand:${action(operands)}`)];
}

function optionOf({ names, does, value, many }: ShellOption): string[] {
  const others = many || names.length === 1 ? "" : `(${names.join(" ")})`;
  return names.map((name) => {
    const takes = value === null ? "" : `:${escaped(value.name)}:${action(value.offer)}`;
    // A long option takes its value after a space or an equals sign.
    const equals = value !== null && name.startsWith("--") ? "=" : "";
    return quoted(`${many ? "*" : others}${name}${equals}[${escaped(does)}]${takes}`);
  });
}

function action(offer: Offer): string {
  // A message in the place of matches would keep the shell from taking the only one.
  if (offer === null) return "()";
  if (offer === "file") return "_files";
  return offer === "folder" ? "_files -/" : `(${offer.join(" ")})`;
}

/** In the specifications of _arguments, colons and brackets part their fields. */
function escaped(text: string): string {
  return text.replace(/[[\]:\\]/g, (mark) => `\\${mark}`);
}

function quotedWithin(text: string): string {
  return `"${text.replace(/["\\$\`:]/g, (mark) => `\\${mark}`)}"`;
}
