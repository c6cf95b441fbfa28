import type { Advice } from "../rule-book.ts";

export interface MarkdownFacts {
  readonly tables: number;
  /** Keys of images, as they stand in `![…](key)`. */
  readonly images: readonly string[];
  readonly pingsEveryone: boolean;
  readonly advice: readonly (readonly [Advice, string])[];
}

const supportedTags = new Set(["br", "hr", "at", "person", "a", "link", "font", "text_tag", "number_tag", "local_datetime", "raw", "audio"]);

/**
 * What matters of a markdown text to the server and to the clients of Card JSON 2.0: tables outside code, images, pings,
 * and what the clients are known to show wrongly.
 */
export function readMarkdown(content: string): MarkdownFacts {
  const advice: (readonly [Advice, string])[] = [];
  const prose: string[] = [];
  let tables = 0;
  let isIndented = false;
  let fence: { readonly mark: string; readonly first: number } | null = null;
  const lines = content.split("\n");
  for (const [index, line] of lines.entries()) {
    const mark = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(line);
    if (fence !== null) {
      if (mark !== null && mark[2]!.startsWith(fence.mark) && mark[3]!.trim() === "") {
        if (lines.slice(fence.first + 1, index).some((code) => code.includes("${"))) advice.push(["fence.template", lines[fence.first]!]);
        if ((lines[index + 1] ?? "").trim() !== "") advice.push(["fence.glued", `after the block: ${lines[index + 1]!}`]);
        fence = null;
      }
      continue;
    }
    isIndented = /^( {4}|\t)/.test(line) && (isIndented || (lines[index - 1] ?? "").trim() === "");
    if (isIndented) continue;
    if (mark !== null) {
      if (mark[1] !== "") advice.push(["fence.indented", line]);
      if (index > 0 && lines[index - 1]!.trim() !== "") advice.push(["fence.glued", `before the block: ${lines[index - 1]!}`]);
      fence = { mark: mark[2]!, first: index };
      continue;
    }
    if (/^\s{0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$/.test(line) && (lines[index - 1] ?? "").includes("|")) tables += 1;
    prose.push(line);
  }
  // Code spans show what stands in them as it is.
  const text = prose.join("\n").replaceAll(/(`+)[^`](?:[^`]|(?!\1)`)*?\1/g, "");
  for (const [, url] of text.matchAll(/(https?:\/\/[^\s<>()\]]*[\u4e00-\u9fff][^\s<>()\]]*)/g)) advice.push(["link.glued", url!]);
  for (const [, url] of text.matchAll(/(?<!!)\[[^\]]*\]\(([^)\s]*)\)/g)) if (!/^(https?:\/\/|tel:|mailto:)/.test(url!)) advice.push(["link.scheme", url!]);
  for (const [tag, name] of text.matchAll(/<\/?([A-Za-z][A-Za-z0-9_-]*)\b[^>\n]*>/g)) if (!supportedTags.has(name!.toLowerCase())) advice.push(["vanishing.tag", tag]);
  if (/\*{4}|_{4}/.test(text)) advice.push(["stars", "four of * or _ in a row"]);
  if (tables > 4) advice.push(["table.tooMany", `${tables} tables in one markdown element`]);
  return { tables, images: [...text.matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)].map((found) => found[1]!.trim()), pingsEveryone: /<at\b[^>]*\bids?\s*=\s*["']?all\b/i.test(text), advice };
}
