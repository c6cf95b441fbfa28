import type { CheckResult } from "./check.ts";

/** What a person reads: a line a check, the next step below it, and what it all comes to. */
export function report(results: readonly CheckResult[]): string {
  const width = Math.max(...results.map(({ id }) => nameOf(id).length));
  const lines = results.flatMap(({ id, status, found, next }) => [
    `${status.padEnd(7)}  ${nameOf(id).padEnd(width)}  ${found.replaceAll("\n", `\n${" ".repeat(width + 11)}`)}`,
    ...(next === null ? [] : [`${" ".repeat(width + 9)}  → ${next}`]),
  ]);
  const count = (status: string): number => results.filter((each) => each.status === status).length;
  const words = [[count("fault"), "fault"], [count("warning"), "warning"]].flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}${number === 1 ? "" : "s"}`]));
  return `${lines.join("\n")}\n\n${words.length === 0 ? "All is in order." : `${words.join(", ")}; the rest is in order.`}\n`;
}

const nameOf = (id: string): string => id.replace(":", " ");
