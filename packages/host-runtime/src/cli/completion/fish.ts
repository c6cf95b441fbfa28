import type { Offer, ShellCommand, ShellOption } from "./model.ts";

/** To be sourced, or kept as ~/.config/fish/completions/foldcast.fish. */
export function fishCompletion(commands: readonly ShellCommand[]): string {
  return `# Completion of foldcast for fish: foldcast completion fish | source
complete -c foldcast -f
${commands.map(({ name, does }) => `complete -c foldcast -n __fish_use_subcommand -a ${word(name)} -d ${word(does)}`).join("\n")}
complete -c foldcast -n __fish_use_subcommand -l version -d 'show the version'
complete -c foldcast -n __fish_use_subcommand -l help -s h -d 'show the commands'
${commands.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ name, options, verbs, operands }: ShellCommand): string[] {
  const here = `__fish_seen_subcommand_from ${name}`;
  const chosen = `__fish_seen_subcommand_from ${verbs.map((verb) => verb.name).join(" ")}`;
  const lines = verbs.map((verb) => `complete -c foldcast -n ${word(`${here}; and not ${chosen}`)} -a ${word(verb.name)} -d ${word(verb.does)}`);
  if (operands !== null) lines.push(`complete -c foldcast -n ${word(verbs.length === 0 ? here : `${here}; and ${chosen}`)}${operand(operands)}`);
  return [...lines, ...options.map((option) => `complete -c foldcast -n ${word(here)}${flags(option)} -d ${word(option.does)}`)];
}

function flags({ names, value }: ShellOption): string {
  const shown = names.map((name) => (name.startsWith("--") ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`)).join("");
  if (value === null) return shown;
  return `${shown}${value.offer === "file" ? " -r -F" : ` -x${folderOrWords(value.offer)}`}`;
}

function operand(offer: Offer): string {
  return offer === "file" ? " -F" : folderOrWords(offer);
}

function folderOrWords(offer: Offer): string {
  if (offer === null) return "";
  return offer === "folder" ? " -a '(__fish_complete_directories)'" : ` -a ${word(Array.isArray(offer) ? offer.join(" ") : "")}`;
}

/** In single quotes fish knows two escapes. */
function word(text: string): string {
  return `'${text.replace(/[\\']/g, (mark) => `\\${mark}`)}'`;
}
