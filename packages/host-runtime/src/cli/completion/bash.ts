import { quoted } from "./model.ts";
import type { Offer, ShellCommand } from "./model.ts";

/**
 * Works with bash 3.2 on, without the bash-completion package. Where files are offered the function says nothing: the
 * shell's own file names then know how to quote.
 */
export function bashCompletion(commands: readonly ShellCommand[]): string {
  const rows = (of: (command: ShellCommand) => string): string => commands.map((command) => `    ${command.name}) echo ${quoted(of(command))} ;;`).join("\n");
  return `# Completion of foldcast for bash: source <(foldcast completion bash)

_foldcast_options() {
  case "$1" in
${rows(({ options }) => options.flatMap(({ names }) => names).join(" "))}
  esac
}

_foldcast_verbs() {
  case "$1" in
${rows(({ verbs }) => verbs.map(({ name }) => name).join(" "))}
  esac
}

# What an operand may be.
_foldcast_operand() {
  case "$1" in
${rows(({ operands }) => wordsOf(operands))}
  esac
}

# What the value of an option may be; nothing for an option without one.
_foldcast_value() {
  case "$1 $2" in
${valueRows(commands)}
  esac
}

_foldcast_offer() {
  case "$1" in
    file) ;;
    words\\ *) COMPREPLY=($(compgen -W "\${1#words }" -- "$2")) ;;
    *) compopt +o default +o bashdefault 2>/dev/null ;;
  esac
}

_foldcast() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" flag="" command="" operands=0 at word value
  COMPREPLY=()
  # bash makes three words of --flag=value.
  if [[ "$cur" == "=" ]]; then
    cur=""
    flag="\${COMP_WORDS[COMP_CWORD-1]}"
  elif (( COMP_CWORD > 2 )) && [[ "\${COMP_WORDS[COMP_CWORD-1]}" == "=" ]]; then
    flag="\${COMP_WORDS[COMP_CWORD-2]}"
  elif (( COMP_CWORD > 1 )); then
    flag="\${COMP_WORDS[COMP_CWORD-1]}"
  fi
  for (( at = 1; at < COMP_CWORD; at++ )); do
    word="\${COMP_WORDS[at]}"
    if [[ "$word" == "=" ]]; then
      (( at++ ))
    elif [[ "$word" == -* ]]; then
      [[ -n "$(_foldcast_value "$command" "$word")" && "\${COMP_WORDS[at+1]}" != "=" ]] && (( at++ ))
    elif [[ -z "$command" ]]; then
      command="$word"
    else
      (( operands++ ))
    fi
  done
  value="$(_foldcast_value "$command" "$flag")"
  if [[ -n "$value" ]]; then
    _foldcast_offer "$value" "$cur"
  elif [[ -z "$command" ]]; then
    _foldcast_offer ${quoted(`words ${commands.map(({ name }) => name).join(" ")} --help --version`)} "$cur"
  elif [[ "$cur" == -* ]]; then
    _foldcast_offer "words $(_foldcast_options "$command")" "$cur"
  elif (( operands == 0 )) && [[ -n "$(_foldcast_verbs "$command")" ]]; then
    _foldcast_offer "words $(_foldcast_verbs "$command")" "$cur"
  else
    _foldcast_offer "$(_foldcast_operand "$command")" "$cur"
  fi
}

complete -o bashdefault -o default -F _foldcast foldcast
`;
}

function wordsOf(offer: Offer): string {
  if (offer === null) return "nothing";
  return typeof offer === "string" ? "file" : `words ${offer.join(" ")}`;
}

/** One row for all options that take the same. */
function valueRows(commands: readonly ShellCommand[]): string {
  const rows = new Map<string, string[]>();
  for (const { name: command, options } of commands) {
    for (const { names, value } of options) {
      if (value === null) continue;
      const offer = wordsOf(value.offer);
      rows.set(offer, [...(rows.get(offer) ?? []), ...names.map((name) => quoted(`${command} ${name}`))]);
    }
  }
  return [...rows].map(([offer, patterns]) => `    ${patterns.join("|")}) echo ${quoted(offer)} ;;`).join("\n");
}
