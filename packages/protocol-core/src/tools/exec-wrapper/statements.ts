import { parseProgram } from "./parse.ts";

/**
 * The source with each top-level statement (and each comment between them) beginning a line, for showing
 * a program that cannot be read as calls. Statements keep their inner text. Source that does not parse is
 * given back as it is.
 */
export function formatTopLevelStatements(source: string): string {
  const parsed = parseProgram(source);
  if (!parsed.ok || parsed.program.body.length === 0) return source;
  const lines: string[] = [];
  let position = 0;
  const addBetween = (end: number): void => {
    const between = source.slice(position, end).trim();
    if (between !== "") lines.push(between);
  };
  for (const statement of parsed.program.body) {
    addBetween(statement.start);
    if (statement.type !== "EmptyStatement") lines.push(source.slice(statement.start, statement.end));
    position = statement.end;
  }
  addBetween(source.length);
  return lines.join("\n");
}
