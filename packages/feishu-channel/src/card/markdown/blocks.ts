/** A piece of Markdown that is never divided by the rules of another. `text` pieces hold whole lines. */
export type Block =
  | { readonly kind: "text"; readonly lines: readonly string[] }
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  /** Fenced or indented code, without its marks. */
  | { readonly kind: "code"; readonly language: string | null; readonly lines: readonly string[] }
  | { readonly kind: "table"; readonly lines: readonly string[] };

const FENCE = /^([ \t]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?)(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#*)?[ \t]*$/;
const TABLE_RULE = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Divides Markdown into blocks; never throws, and an open fence ends with the text. Linear in the text. */
export function readBlocks(source: string): Block[] {
  const lines = source.split(/\r\n|[\n\r\u0085\u2028\u2029]/);
  const blocks: Block[] = [];
  let text: string[] = [];
  const flush = (): void => {
    if (text.some((line) => line.trim() !== "")) blocks.push({ kind: "text", lines: text });
    text = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const fence = FENCE.exec(line);
    if (fence !== null) {
      // Code that belongs to a list item is shown at the margin: the client knows no other place for it.
      const [, before, mark, info] = fence;
      const marker = before!.trim();
      if (marker !== "") text.push(marker);
      flush();
      const indent = before!.length - before!.trimStart().length;
      const code: string[] = [];
      for (at += 1; at < lines.length && !closes(lines[at]!, mark!); at += 1) code.push(unindent(lines[at]!, indent));
      blocks.push({ kind: "code", language: /^[\w+#.-]+/.exec(info!.trim())?.[0] ?? null, lines: code });
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading !== null) {
      flush();
      blocks.push({ kind: "heading", level: heading[1]!.length, text: heading[2] ?? "" });
      continue;
    }
    if (/^(?: {4}|\t)\s*\S/.test(line) && (text.length === 0 || (text.at(-1) ?? "").trim() === "") && !isInList(text)) {
      flush();
      const code: string[] = [];
      for (; at < lines.length && /^(?: {4}|\t|\s*$)/.test(lines[at]!); at += 1) code.push(unindent(lines[at]!, 4));
      at -= 1;
      while (code.length > 0 && code.at(-1)!.trim() === "") code.pop();
      blocks.push({ kind: "code", language: null, lines: code });
      continue;
    }
    if (line.includes("|") && at + 1 < lines.length && lines[at + 1]!.includes("-") && TABLE_RULE.test(lines[at + 1]!) && (cells(lines[at + 1]!) > 1 || cells(line) === 1)) {
      flush();
      const table: string[] = [];
      for (; at < lines.length && lines[at]!.trim() !== "" && (table.length < 2 || lines[at]!.includes("|")); at += 1) table.push(lines[at]!);
      at -= 1;
      blocks.push({ kind: "table", lines: table });
      continue;
    }
    text.push(line);
  }
  flush();
  return blocks;
}

/** As how many tables a block may be counted: a server that looks for rules below rows takes each of them for one. */
export function tablesIn(block: Block): number {
  return block.kind === "table" ? Math.max(1, block.lines.filter((line) => TABLE_RULE.test(line) && cells(line) > 1).length) : 0;
}

function closes(line: string, mark: string): boolean {
  const run = line.trim();
  return run.length >= mark.length && run === mark[0]!.repeat(run.length);
}

function unindent(line: string, width: number): string {
  let cut = 0;
  while (cut < width && (line[cut] === " " || line[cut] === "\t")) cut += line[cut] === "\t" ? width : 1;
  return line.slice(Math.min(cut, line.length - line.trimStart().length));
}

/** Inside a list, deep indentation continues the item. */
function isInList(text: readonly string[]): boolean {
  return text.some((line) => /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(line));
}

function cells(line: string): number {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).length;
}
