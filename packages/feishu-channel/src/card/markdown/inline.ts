/** Marks of Markdown and of Feishu's tags as entities: the text is shown as it is, and pings nobody. */
const ENTITIES: Readonly<Record<string, string>> = {
  "<": "&#60;", ">": "&#62;", "*": "&#42;", "~": "&sim;", "[": "&#91;", "]": "&#93;", "#": "&#35;", "`": "&#96;", "_": "&#95;", "&": "&#38;", "$": "&#36;",
};

/** Text that is no markup at all, e.g. a title in a list; one line. */
export function plainInline(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[<>*~[\]#`_&$]/g, (mark) => ENTITIES[mark] ?? mark);
}

const PROTECTED_SPAN = /(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g;

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
  return out + safeOutsideCode(text.slice(from));
}

/** A tag inside a code span would still ping; as entities it is text either way. */
function safeCodeSpan(span: string): string {
  return /<\/?(?:at|person)\b/i.test(span) ? span.replaceAll("<", "&#60;").replaceAll(">", "&#62;") : span;
}

/** `!?[label](target "title")`, `<http://…>`, or a bare address. Labels hold one level of brackets at most. */
const LINKS = /(!?)\[((?:[^[\]\n]|\[[^[\]\n]*\]){0,1000})\]\(\s*<?([^\s<>)]*(?:\([^\s<>()]*\)[^\s<>)]*)*)>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?\s*\)|<(https?:\/\/[^\s<>]+)>|(https?:\/\/[^\s<>"'`，。；、）】》！？]+)/gi;

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
  const text = plainInline(shown === "" ? target : shown);
  if (!isWebAddress(target)) return isImage || shown === target ? text : `${text} (${plainInline(target)})`;
  // `&reg…` and its kin would turn into symbols even inside an address.
  const address = target.replaceAll(" ", "%20").replaceAll("(", "%28").replaceAll(")", "%29").replaceAll(/&(?=(?:reg|copy|zwj|zwnj|sim|lt|gt|amp|quot|nbsp|para|sect|times|divide|not|deg|micro|yen|cent|pound|curren|ordf|ordm|uml|macr|shy)\b)/gi, "&#38;");
  return `[${isImage ? `🖼️ ${text}` : text}](${address})`;
}

/** Everything that could be a tag or an entity is shown; emphasis, lists and strike-through keep their meaning. */
function safeText(text: string): string {
  return text.replaceAll(/&(?=#?\w)/g, "&#38;").replaceAll("<", "&#60;").replaceAll(/(?<!^[ \t]{0,3}|\n[ \t]{0,3}|&#60;|&#38;|&#\d)>/g, "&#62;").replaceAll(/\*{4,}/g, (run) => "&#42;".repeat(run.length));
}

/** Addresses of people, for a server that refuses to carry them. */
export function maskMail(text: string): string {
  return text.replaceAll(/([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)/g, "$1[at]$2");
}
