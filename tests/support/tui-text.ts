import type { DesktopTurn } from "./desktop-turns.ts";

/** The beginnings of everything that was said in the turns, as words. */
export function textsOf(turns: readonly DesktopTurn[]): string[] {
  return turns
    .flatMap((turn) => turn.items)
    .flatMap((item) => {
      if (item.type === "agentMessage") return [item.text];
      return item.type === "userMessage" ? item.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [];
    })
    .map((text) => plainWords(text.trim().split("\n")[0] ?? "").slice(0, 60));
}

/** Without what a terminal breaks and a renderer draws: white space and Markdown's marks. */
export function plainWords(text: string): string {
  return text.replace(/[\s*_`#>│└•-]+/g, "");
}

/** Without how long ago something was, which goes on while a screen stands. */
export function withoutAges(screen: string): string {
  return screen.replace(/ *(\d+[smhd] ago|just now|\bnow\b) */g, " <ago> ");
}

/** The text of a screen without what changes while it stands: the mark of what runs blinks, and the time goes on. */
export function withoutMoods(screen: string): string {
  return screen.replace(/^◦ /gm, "• ").replace(/(Worked for|\() ?<?\d+[hms](?: \d+[ms])*\)?/g, "$1 <seconds>");
}
