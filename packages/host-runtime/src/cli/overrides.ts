import { harnesses } from "@foldcast/adapter-registry";
import { parse } from "smol-toml";
import type { Arguments } from "./options/parse.ts";
import { UsageError } from "./usage-error.ts";

/** One `-c key=value`, the value read as TOML or else as the text that it is, as Codex 0.171 does. */
export interface Override {
  keyPath: string;
  value: unknown;
}

/** What a command line says of the configuration, in Codex's words. */
export interface Overrides {
  edits: Override[];
  /** A model of ours among them: the default of that client's threads. Never the real Codex's business. */
  model: string | null;
}

/** From the options `config`, `enable` and `disable`. Throws a `UsageError` for a `-c` without `=`. */
export function overridesOf(flags: Arguments["flags"]): Overrides {
  const texts = (name: string): readonly string[] => (Array.isArray(flags[name]) ? (flags[name] as readonly string[]) : []);
  const given = texts("config").map(readOverride);
  const features = [true, false].flatMap((value) => texts(value ? "enable" : "disable").map((feature) => ({ keyPath: `features.${feature}`, value })));
  // The last one counts, as with Codex, whosever it is.
  const model = given.findLast(({ keyPath }) => keyPath === "model");
  return { edits: [...given.filter((each) => !isOurs(each)), ...features], model: model !== undefined && isOurs(model) ? String(model.value) : null };
}

/** The words for the real Codex: all but what names a model of ours, which it would not know. */
export function forCodex(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const separate = word === "-c" || word === "--config";
    const text = separate ? words[at + 1] : /^(?:-c|--config=)(.*)$/s.exec(word)?.[1];
    if (text !== undefined && text.includes("=") && isOurs(readOverride(text))) {
      if (separate) at += 1;
    } else {
      kept.push(word);
      // Its value is no option, whatever it looks like.
      if (separate && text !== undefined) kept.push(words[(at += 1)]!);
    }
  }
  return kept;
}

function readOverride(text: string): Override {
  // `-c=key=value` is one way to write it.
  const whole = text.startsWith("=") ? text.slice(1) : text;
  const equals = whole.indexOf("=");
  if (equals === -1) throw new UsageError(`-c takes KEY=VALUE; got \`${text}\``);
  return { keyPath: whole.slice(0, equals).trim(), value: tomlOf(whole.slice(equals + 1).trim()) };
}

function tomlOf(text: string): unknown {
  try {
    return parse(`value = ${text}`)["value"];
  } catch {
    return text.replace(/^(["'])(.*)\1$/s, "$2");
  }
}

function isOurs({ keyPath, value }: Override): boolean {
  return keyPath === "model" && typeof value === "string" && harnesses.some(({ id }) => value.startsWith(`${id}/`));
}
