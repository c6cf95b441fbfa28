/** A property list of macOS, for launchd. */
export function plist(value: Readonly<Record<string, PlistValue>>): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${element(value)}
</plist>
`;
}

export type PlistValue = string | boolean | readonly PlistValue[] | { readonly [key: string]: PlistValue };

function element(value: PlistValue): string {
  if (typeof value === "string") return `<string>${escaped(value)}</string>`;
  if (typeof value === "boolean") return value ? "<true/>" : "<false/>";
  if (isList(value)) return `<array>\n${value.map(element).join("\n")}\n</array>`;
  return `<dict>\n${Object.entries(value).map(([key, each]) => `<key>${escaped(key)}</key>\n${element(each)}`).join("\n")}\n</dict>`;
}

const isList = (value: PlistValue): value is readonly PlistValue[] => Array.isArray(value);

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A command line, or an assignment, in a unit of systemd: `%` and `$` mean something there, quotes and backslashes too. */
export function unitWords(words: readonly string[]): string {
  return words.map((word) => `"${word.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("$", "$$$$")}"`).join(" ");
}

/** A line of environment.d(5): quotes are taken off first, then variables are put in, of which `$$` is none. */
export function environmentLine(name: string, value: string): string {
  return `${name}="${value.replace(/[\\"]/g, "\\$&").replaceAll("$", "$$$$")}"\n`;
}
