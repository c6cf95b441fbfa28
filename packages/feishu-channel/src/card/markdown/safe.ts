import { codeBlock } from "./code.ts";
import { type Block, readBlocks, tablesIn } from "./blocks.ts";
import { maskMail, safeInline } from "./inline.ts";

/** What one card may still hold; the functions here take from it. */
export interface MarkdownAllowance {
  /** Tables that are still drawn as tables; further ones become code. */
  tables: number;
  /** The server refused an address of a person. */
  maskMail: boolean;
}

/** Headings of an answer must not shout louder than the card's own title. */
const TOP_HEADING = 4;
const DEEPEST_HEADING = 5;

/** Markdown of a model made safe for Feishu's client. The text must have been cut before. */
export function safeMarkdown(source: string, allowance: MarkdownAllowance): string {
  return joinBlocks(readBlocks(allowance.maskMail ? maskMail(source) : source).map((block) => safeBlock(block, allowance)));
}

function safeBlock(block: Block, allowance: MarkdownAllowance): string {
  switch (block.kind) {
    case "code":
      return codeBlock(block.lines.join("\n"), block.language);
    case "heading":
      return `${"#".repeat(block.level === 1 ? TOP_HEADING : DEEPEST_HEADING)} ${safeInline(block.text)}`;
    case "table":
      if (allowance.tables < tablesIn(block)) return codeBlock(block.lines.join("\n"), null);
      allowance.tables -= tablesIn(block);
      return block.lines.map((line) => safeInline(line.trim())).join("\n");
    case "text":
      return safeInline(block.lines.join("\n")).replace(/^\n+|\s+$/g, "");
  }
}

/** The client draws fences and tables only between blank lines. */
export function joinBlocks(blocks: readonly string[]): string {
  let joined = "";
  for (const block of blocks) {
    if (block === "") continue;
    // Indented behind a list, code would be a paragraph of its last item: laid out as prose, its tags obeyed.
    const parting = INDENTED.test(block) && endsInList(joined) ? "<br>\n\n" : "";
    joined += `${joined === "" ? "" : "\n\n"}${parting}${block}`;
  }
  return joined;
}

const INDENTED = /^ {4}/;
const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

function endsInList(shown: string): boolean {
  let isOpen = false;
  let isNew = true;
  for (const line of shown.split("\n")) {
    if (line.trim() === "") {
      isNew = true;
      continue;
    }
    if (LIST_ITEM.test(line)) isOpen = true;
    // A paragraph at the margin, or a block that may stand right below, ends the list.
    else if ((isNew && !/^\s/.test(line)) || /^(?:`{3}|~{3}|#{1,6} )/.test(line)) isOpen = false;
    isNew = false;
  }
  return isOpen;
}

/** Words before safe Markdown: on its first line where that is prose, else in a paragraph of their own. */
export function ledBy(lead: string, shown: string): string {
  return /^(?:[`~|#>]| {4}|\t|[-*+][ \t]|\d{1,9}[.)][ \t])/.test(shown) ? `${lead}\n\n${shown}` : `${lead} ${shown}`;
}

/** A sign behind safe Markdown, which may end in a block. */
export function followedBy(shown: string, sign: string): string {
  return /(?:^|\n)(?:[`~|]| {4})[^\n]*$/.test(shown) ? `${shown}\n\n${sign}` : `${shown} ${sign}`;
}
