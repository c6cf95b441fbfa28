/** Marks of Markdown and of Feishu's tags as entities: the text is shown as it is, and pings nobody. */
const ENTITIES: Readonly<Record<string, string>> = {
  "<": "&#60;", ">": "&#62;", "*": "&#42;", "~": "&sim;", "[": "&#91;", "]": "&#93;", "#": "&#35;", "`": "&#96;", "_": "&#95;", "&": "&#38;", "$": "&#36;",
};

/** Text that is no markup at all, e.g. a title in a list; one line. */
export function plainInline(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll(/[<>*~[\]#`_&$]/g, (mark) => ENTITIES[mark] ?? mark);
  // An address that Chinese text follows at once would be taken for a link, and refused as one.
  return line.replaceAll(/(https?):(?=\/\/[^\s()]*[\u3000-\u9fff\uff00-\uffef])/gi, "$1&#58;");
}

/** A code span: its first mark is not escaped, and it does not go on beyond its paragraph or item. */
const PROTECTED_SPAN = /(?<![`\\])(`+)(?!`)(?:(?!\n[ \t]*(?:\n|[-*+>#=|]|\d{1,9}[.)]|$))[\s\S])*?[^`]\1(?!`)/g;

/**
 * One run of Markdown text (no code block) made safe for Feishu's client: tags and entities are shown instead of
 * obeyed, images and odd links become texts or links, a bare address stands alone. Code spans stay as they are.
 */
export function safeInline(text: string): string {
  let out = "";
  let from = 0;
  for (const span of text.matchAll(PROTECTED_SPAN)) {
    out += safeOutsideCode(text.slice(from, span.index)) + safeCodeSpan(span[0]);
    from = span.index + span[0].length;
  }
  // What stands here is no block: nothing of it may open a fence for a reader that is less exact.
  return (out + safeOutsideCode(text.slice(from))).replaceAll(/^[ \t]*(?:`{3,}|~{3,})/gm, (marks) => marks.replaceAll("`", "&#96;").replaceAll("~", "&sim;"));
}

/** A tag inside a code span would still ping; as entities it is text either way. Three marks at once could be taken for a fence. */
function safeCodeSpan(span: string): string {
  const shown = /<\/?(?:at|person)\b/i.test(span) ? span.replaceAll("<", "&#60;").replaceAll(">", "&#62;") : span;
  if (span.includes("\n") && span.includes("```")) return safeText(span).replaceAll("`", "&#96;");
  const mark = /^`+/.exec(shown)![0];
  if (mark.length < 3) return shown;
  const inner = shown.slice(mark.length, -mark.length);
  const fewer = ["`", "``"].find((one) => !inner.split(/([^`]+)/).includes(one));
  return fewer === undefined ? shown.replaceAll("`", "&#96;") : `${fewer}${inner}${fewer}`;
}

/** `!?[label](target "title")`, `<http://…>`, or a bare address. Labels hold one level of brackets at most. */
const LINKS = /(!?)\[((?:[^[\]\n]|\[[^[\]\n]*\]){0,1000})\]\(\s*<?([^\s<>)]*(?:\([^\s<>()]*\)[^\s<>)]*)*)>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?\s*\)|<(https?:\/\/[^\s<>]+)>|(https?:\/\/[^\s<>"'`\u3000-\u9fff\uff00-\uffef]+)/gi;

function safeOutsideCode(text: string): string {
  let out = "";
  let from = 0;
  for (const match of text.matchAll(LINKS)) {
    const [whole, bang, label, target, angled, bare] = match;
    out += safeText(text.slice(from, match.index));
    from = match.index + whole.length;
    if (target !== undefined) out += link(bang === "!", label ?? "", target);
    else if (angled !== undefined) out += link(false, angled, angled);
    else if (bare !== undefined) {
      // Closing punctuation is the sentence's, not the address's.
      const trailing = /[.,;:!?)\]*_~]+$/.exec(bare)?.[0] ?? "";
      const address = bare.slice(0, bare.length - trailing.length);
      out += isWebAddress(address) ? `${separated(out)}${link(false, address, address)} ${safeText(trailing)}`.trimEnd() + (trailing === "" && text[from] !== undefined && !/\s/.test(text[from]!) ? " " : "") : safeText(bare);
    }
  }
  return out + safeText(text.slice(from));
}

/** An address glued to Chinese text makes the whole message fail. */
function separated(before: string): string {
  return before === "" || /\s$/.test(before) || /[([{“"'：:]$/.test(before) ? "" : " ";
}

function isWebAddress(target: string): boolean {
  return /^https?:\/\/[^\s/]+/i.test(target);
}

function link(isImage: boolean, label: string, target: string): string {
  const shown = label.replaceAll(/\s+/g, " ").trim();
  const text = plainInline(shown === "" || shown === target ? readable(target) : shown);
  if (!isWebAddress(target)) return isImage || shown === target ? text : `${text} (${plainInline(target)})`;
  // `&reg…` and its kin would turn into symbols even inside an address.
  const address = readable(target).replaceAll(" ", "%20").replaceAll(/_{4,}|\*{4,}/g, (run) => (run[0] === "_" ? "%5F" : "%2A").repeat(run.length)).replaceAll("(", "%28").replaceAll(")", "%29").replaceAll(/&(?=(?:reg|copy|zwj|zwnj|sim|lt|gt|amp|quot|nbsp|para|sect|times|divide|not|deg|micro|yen|cent|pound|curren|ordf|ordm|uml|macr|shy)\b)/gi, "&#38;");
  return `[${isImage ? `🖼️ ${text}` : text}](${address})`;
}

/** An address without letters beyond ASCII: with Chinese in it the whole message may fail. */
function readable(target: string): string {
  return target.replaceAll(/[^\u0021-\u007e]+/g, (letters) => [...Buffer.from(letters)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""));
}

/** Everything that could be a tag or an entity, or half a link, is shown; emphasis, lists and strike-through keep their meaning. */
function safeText(text: string): string {
  return text.replaceAll(/&(?=#?\w)/g, "&#38;").replaceAll("<", "&#60;").replaceAll("![", "!&#91;").replaceAll("](", "&#93;(").replaceAll(/(?<!^[ \t]{0,3}|\n[ \t]{0,3}|&#60;|&#38;|&#\d)>/g, "&#62;").replaceAll(/\*{4,}|_{4,}|`{3,}/g, (run) => (ENTITIES[run[0]!] ?? "").repeat(run.length));
}

/** A text that is no Markdown, for a message of plain text: live tags in it would ping people. */
export function plainText(text: string): string {
  return text.replaceAll(/<(?=\/?(?:at|person)\b)/gi, "‹");
}

/** Addresses of people, for a server that refuses to carry them. */
export function maskMail(text: string): string {
  return text.replaceAll(/([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)/g, "$1[at]$2");
}
