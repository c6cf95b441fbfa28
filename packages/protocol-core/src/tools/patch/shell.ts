export interface ShellPatch {
  /** The heredoc's body without its final newlines. */
  readonly patch: string;
  /** The directory of a leading `cd DIR &&`, as written. */
  readonly workdir: string | null;
}

const ASSIGNMENTS = /(?:[A-Za-z_]\w*=[\w./:@%+,-]*[ \t]+)*/y;
const CHANGE_DIRECTORY = /cd[ \t]+(?:'([^'\n]+)'|"([^"$`\\\n]+)"|([^\s'"$`\\;&|<>(){}#]+))[ \t]*&&\s*/y;
const INVOCATION = /(?:apply_patch|applypatch)[ \t]*<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_]\w*))[ \t]*\r?\n/y;

/**
 * Recognises a shell script that Codex 0.171 takes as a patch instead of running it: the whole script is
 * `apply_patch <<TAG … TAG` or `cd DIR && apply_patch <<TAG … TAG`, with optional plain assignments
 * before it. Anything else (`;`, pipes, arguments, commands after the heredoc) gives `null`.
 */
export function patchFromShell(script: string): ShellPatch | null {
  let position = script.length - script.trimStart().length;
  position = endOfMatch(ASSIGNMENTS, script, position);
  let workdir: string | null = null;
  const change = matchAt(CHANGE_DIRECTORY, script, position);
  if (change !== null) {
    workdir = change[1] ?? change[2] ?? change[3] ?? null;
    position = endOfMatch(ASSIGNMENTS, script, position + change[0].length);
  }
  const invocation = matchAt(INVOCATION, script, position);
  if (invocation === null) return null;
  const dash = invocation[1] === "-";
  const tag = invocation[2] ?? invocation[3] ?? invocation[4] ?? "";
  const bodyStart = position + invocation[0].length;
  for (let start = bodyStart; start <= script.length; ) {
    const newline = script.indexOf("\n", start);
    const end = newline === -1 ? script.length : newline;
    const line = script.slice(start, end);
    if ((dash ? line.replace(/^\t+/, "") : line) === tag) {
      if (script.slice(end).trim() !== "") return null;
      let bodyEnd = start;
      while (bodyEnd > bodyStart && script[bodyEnd - 1] === "\n") bodyEnd -= 1;
      return { patch: script.slice(bodyStart, bodyEnd), workdir };
    }
    if (newline === -1) return null;
    start = newline + 1;
  }
  return null;
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

function endOfMatch(pattern: RegExp, text: string, position: number): number {
  return position + (matchAt(pattern, text, position)?.[0].length ?? 0);
}
