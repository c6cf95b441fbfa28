import { fenceFor } from "@foldcast/protocol-core/tools";

/**
 * A code block; whoever joins it with other text leaves a blank line before and after. The content must have been cut
 * before: a block that is cut after it was fenced loses its end. A block with a literal `${` is laid out on one line by the client when
 * it is fenced, so that one, and only that one, is indented instead.
 */
export function codeBlock(content: string, language: string | null): string {
  const text = content.endsWith("\n") ? content.slice(0, -1) : content;
  if (text.includes("${")) return text.split("\n").map((line) => `    ${line}`).join("\n");
  const fence = fenceFor(text);
  return `${fence}${language ?? ""}\n${text}\n${fence}`;
}
