// Reads the markdown of Card JSON 2.0 as its clients show it, with their oddities: fences count only at column 0 after a
// blank line, a fenced block with a literal dollar-brace comes out on one line, unknown tags vanish, a table has pages of
// five rows. Gives a tree of plain objects; card.js makes elements of it, so that no text ever becomes markup.

const entities = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: "\u00a0", sim: "∼", reg: "®", copy: "©", zwj: "\u200d", hellip: "…", mdash: "—", middot: "·", larr: "←", rarr: "→" };
const pairedTags = new Set(["font", "text_tag", "at", "a", "link", "person", "number_tag", "local_datetime", "raw", "audio"]);

export function parseMarkdown(text) {
  return parseBlocks(text.split("\n"));
}

function parseBlocks(lines) {
  const blocks = [];
  let paragraph = [];
  const flush = () => {
    if (paragraph.length > 0) blocks.push({ type: "paragraph", inline: parseInline(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    const blankBefore = index === 0 || lines[index - 1].trim() === "";
    const fence = /^(`{3,}|~{3,})\s*([^\s`]*)/.exec(line);
    if (fence !== null && blankBefore) {
      flush();
      const end = lines.findIndex((other, at) => at > index && other.startsWith(fence[1]) && other.replace(/[`~]/g, "").trim() === "");
      const code = lines.slice(index + 1, end < 0 ? lines.length : end);
      blocks.push({ type: "code", language: fence[2], text: code.some((part) => part.includes("${")) ? code.join(" ") : code.join("\n") });
      index = end < 0 ? lines.length : end;
    } else if (/^( {4}|\t)/.test(line) && paragraph.length === 0) {
      const start = index;
      while (index + 1 < lines.length && (/^( {4}|\t)/.test(lines[index + 1]) || (lines[index + 1].trim() === "" && /^( {4}|\t)/.test(lines[index + 2] ?? "")))) index += 1;
      blocks.push({ type: "code", language: "", text: lines.slice(start, index + 1).map((part) => part.replace(/^( {4}|\t)/, "")).join("\n") });
    } else if (line.trim() === "") flush();
    else if (/^#{1,6}\s/.test(line)) {
      flush();
      const [, marks, title] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
      blocks.push({ type: "heading", level: marks.length, inline: parseInline(title) });
    } else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line) || /^\s*<hr\s*\/?>\s*$/.test(line)) {
      flush();
      blocks.push({ type: "hr" });
    } else if (isTable(lines, index)) {
      flush();
      const start = index;
      while (index + 1 < lines.length && lines[index + 1].includes("|") && lines[index + 1].trim() !== "") index += 1;
      const rows = lines.slice(start, index + 1).map(cells);
      blocks.push({ type: "table", head: rows[0].map(parseInline), rows: rows.slice(2).map((row) => row.map(parseInline)) });
    } else if (/^\s{0,3}>/.test(line)) {
      flush();
      const start = index;
      while (index + 1 < lines.length && /^\s{0,3}>/.test(lines[index + 1])) index += 1;
      blocks.push({ type: "quote", blocks: parseBlocks(lines.slice(start, index + 1).map((part) => part.replace(/^\s{0,3}> ?/, ""))) });
    } else if (listMark(line) !== null) {
      flush();
      const start = index;
      while (index + 1 < lines.length && lines[index + 1].trim() !== "" && (listMark(lines[index + 1]) !== null || /^\s{2,}/.test(lines[index + 1]))) index += 1;
      blocks.push(parseList(lines.slice(start, index + 1)));
    } else paragraph.push(line);
  }
  flush();
  return blocks;
}

function listMark(line) {
  const found = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/.exec(line);
  return found === null ? null : { indent: found[1].replaceAll("\t", "    ").length, ordered: found[3] !== undefined, start: Number(found[3] ?? 1), text: found[4] };
}

function parseList(lines) {
  const first = listMark(lines[0]);
  const items = [];
  for (const line of lines) {
    const mark = listMark(line);
    // A level is four blanks; a little less still counts as the same one.
    if (mark !== null && mark.indent < first.indent + 2) items.push({ text: [mark.text], inner: [] });
    else if (items.length > 0 && (mark !== null || items.at(-1).inner.length > 0)) items.at(-1).inner.push(line);
    else if (items.length > 0) items.at(-1).text.push(line.trim());
  }
  return {
    type: "list", ordered: first.ordered, start: first.start,
    items: items.map(({ text, inner }) => ({ inline: parseInline(text.join("\n")), blocks: inner.length > 0 && listMark(inner[0]) !== null ? [parseList(inner)] : [] })),
  };
}

function isTable(lines, index) {
  return lines[index].includes("|") && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$/.test(lines[index + 1] ?? "");
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Nodes are strings or {type, …, inline}. */
export function parseInline(text) {
  const nodes = [];
  let rest = text;
  const push = (node) => (typeof node === "string" && typeof nodes.at(-1) === "string" ? nodes.push(nodes.pop() + node) : nodes.push(node));
  while (rest !== "") {
    const step = inlineStep(rest, text.slice(0, text.length - rest.length));
    for (const node of step.nodes) push(node);
    rest = rest.slice(step.length);
  }
  return nodes;
}

function inlineStep(rest, before) {
  const one = (pattern) => pattern.exec(rest);
  const take = (found, ...nodes) => ({ length: found[0].length, nodes });
  let found;
  if ((found = one(/^\\([!-/:-@[-`{-~])/))) return take(found, found[1]);
  if ((found = one(/^(`+)([^`](?:[\s\S]*?[^`])?)\1(?!`)/))) return take(found, { type: "code", text: found[2].replace(/^ (.*) $/s, "$1") });
  if ((found = one(/^!\[([^\]]*)\]\(([^)\s]*)\)/))) return take(found, { type: "image", key: found[2], alt: found[1] });
  if ((found = one(/^\[((?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(((?:[^()\s]|\([^()\s]*\))*)\)/))) return take(found, /^https?:\/\//.test(found[2]) ? { type: "link", url: found[2], inline: parseInline(found[1]) } : found[0]);
  if ((found = one(/^https?:\/\/[^\s<>"'`\u3000-\u9fff\uff00-\uffef]+[^\s<>"'`.,;:!?)\]\u3000-\u9fff\uff00-\uffef]/))) return take(found, { type: "link", url: found[0], inline: [found[0]] });
  if ((found = one(/^&#(\d{1,7});/))) return take(found, String.fromCodePoint(Math.min(Number(found[1]), 0x10ffff)));
  if ((found = one(/^&#x([0-9a-f]{1,6});/i))) return take(found, String.fromCodePoint(Math.min(Number.parseInt(found[1], 16), 0x10ffff)));
  if ((found = one(/^&([a-z]+);/i)) && entities[found[1].toLowerCase()] !== undefined) return take(found, entities[found[1].toLowerCase()]);
  // Some names count without their semicolon.
  if ((found = one(/^&(reg|copy)/))) return take(found, entities[found[1]]);
  if ((found = one(/^<br\s*\/?>/i))) return take(found, { type: "br" });
  if ((found = one(/^<([a-z_]+)((?:\s[^>]*)?)>/i)) && pairedTags.has(found[1].toLowerCase())) return paired(rest, found);
  if ((found = one(/^<\/?[A-Za-z][A-Za-z0-9_-]*(?:\s[^>\n]*)?\/?>/))) return take(found);
  if ((found = one(/^\*\*(?=\S)([\s\S]*?\S)\*\*(?!\*)/))) return take(found, { type: "strong", inline: parseInline(found[1]) });
  if ((found = one(/^__(?=\S)([\s\S]*?\S)__(?!\w)/)) && !/\w$/.test(before)) return take(found, { type: "strong", inline: parseInline(found[1]) });
  if ((found = one(/^~~(?=\S)([\s\S]*?\S)~~/))) return take(found, { type: "del", inline: parseInline(found[1]) });
  if ((found = one(/^\*(?=[^\s*])([^*]*?[^\s*])\*(?!\*)/))) return take(found, { type: "em", inline: parseInline(found[1]) });
  if ((found = one(/^_(?=[^\s_])([^_]*?[^\s_])_(?!\w)/)) && !/\w$/.test(before)) return take(found, { type: "em", inline: parseInline(found[1]) });
  if ((found = one(/^ *\n/))) return take(found, { type: "br" });
  found = one(/^(?:[A-Za-z0-9\u3000-\u9fff ,.;:'"()/-](?!https?:\/\/|\n))+/) ?? one(/^[\s\S]/u);
  return take(found, found[0]);
}

function paired(rest, open) {
  const name = open[1].toLowerCase();
  const close = new RegExp("</" + name + ">", "i").exec(rest.slice(open[0].length));
  const inside = close === null ? "" : rest.slice(open[0].length, open[0].length + close.index);
  const attributes = Object.fromEntries([...open[2].matchAll(/([a-z_]+)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^\s'">]+))/gi)].map((found) => [found[1].toLowerCase(), found[2] ?? found[3] ?? found[4]]));
  const node = { type: name, attributes, inline: name === "raw" ? [inside] : parseInline(inside) };
  return { length: close === null ? open[0].length : open[0].length + close.index + close[0].length, nodes: [node] };
}
