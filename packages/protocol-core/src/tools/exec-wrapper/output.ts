/** A tool output without the lines its transport put before it. */
export interface ExecEnvelope {
  /** What the program or command itself wrote. */
  readonly text: string;
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  /** Id of the cell or process that keeps running, to wait for or write to. */
  readonly backgroundId: string | null;
  /** `null` when the transport said nothing about it. A non-zero exit code is `failed`. */
  readonly state: "completed" | "failed" | "running" | null;
  /** The error a failed script ended with. */
  readonly error: string | null;
  /** Image URLs, in order; absent when there are none. */
  readonly images?: readonly string[];
}

const NOTHING: ExecEnvelope = { text: "", exitCode: null, durationMs: null, backgroundId: null, state: null, error: null };

/**
 * Takes the transport's lines off a tool output. Known shapes: code-mode items and header strings
 * (`Script completed` …), exec_command strings (`Chunk ID: …`), apply_patch strings (`Exit code: …`) and
 * the older JSON string `{"output","metadata"}`. Lines count only at the head, where the transport puts
 * them; the same words in the output stay. Never throws; unknown shapes become their JSON text.
 */
export function readExecOutput(output: unknown): ExecEnvelope {
  if (typeof output === "string") return readString(output);
  if (Array.isArray(output)) return readItems(output);
  if (output === null || output === undefined) return NOTHING;
  if (isRecord(output)) {
    const content = output["content"] ?? output["content_items"];
    if (typeof content === "string" || Array.isArray(content)) {
      const inner = typeof content === "string" ? readString(content) : readItems(content);
      return output["success"] === false && inner.state === null ? { ...inner, state: "failed" } : inner;
    }
  }
  return { ...NOTHING, text: jsonText(output) };
}

function readItems(items: readonly unknown[]): ExecEnvelope {
  const texts: string[] = [];
  const images: string[] = [];
  for (const item of items) {
    if (!isRecord(item)) continue;
    const { text, image_url: image } = item;
    if (typeof text === "string") texts.push(text);
    else if (typeof image === "string") images.push(image);
    else texts.push(jsonText(item));
  }
  const [first = "", ...rest] = texts;
  const head = readScriptHead(first);
  const found = images.length === 0 ? {} : { images };
  if (head === null) return { ...(rest.length === 0 ? readString(first) : { ...NOTHING, text: joinTexts(texts) }), ...found };
  if (head.rest !== "") rest.unshift(head.rest);
  const error = head.state === "failed" ? takeError(rest) : null;
  return { ...NOTHING, ...head.envelope, text: joinTexts(rest), error, ...found };
}

/** Each `text()` of a script is its own item; shown together they need a line break between them. */
function joinTexts(texts: readonly string[]): string {
  let joined = "";
  for (const text of texts) joined += joined === "" || joined.endsWith("\n") ? text : `\n${text}`;
  return joined;
}

function readString(output: string): ExecEnvelope {
  const script = readScriptHead(output);
  if (script !== null) {
    const rest = script.rest === "" ? [] : [script.rest];
    const error = script.state === "failed" ? takeError(rest) : null;
    return { ...NOTHING, ...script.envelope, text: joinTexts(rest), error };
  }
  return readProcessHead(output, true) ?? readJsonOutput(output) ?? { ...NOTHING, text: output };
}

interface ScriptHead {
  readonly state: "completed" | "failed" | "running";
  readonly envelope: Partial<ExecEnvelope>;
  readonly rest: string;
}

const SCRIPT_HEAD = /^Script (?:(completed)|(failed|terminated)|running with cell ID (\S+))\nWall time ([\d.]+) seconds\nOutput:(?:\n|$)/;

function readScriptHead(text: string): ScriptHead | null {
  const match = SCRIPT_HEAD.exec(text);
  if (match === null) return null;
  const [head, completed, failed, cell] = match;
  const state = completed !== undefined ? "completed" : failed !== undefined ? "failed" : "running";
  const envelope = { state, durationMs: milliseconds(match[4]), backgroundId: cell ?? null } as const;
  return { state, envelope, rest: text.slice(head.length) };
}

const SCRIPT_ERROR = /^\n*Script error:\n/;

/** Removes the error that the transport appends as the last item of a failed script. */
function takeError(texts: string[]): string | null {
  const last = texts.at(-1);
  const match = last === undefined ? null : SCRIPT_ERROR.exec(last);
  if (last === undefined || match === null) return null;
  texts.pop();
  return last.slice(match[0].length);
}

/** Lines that stand before `Output:` in strings of exec_command, write_stdin and apply_patch. */
const HEAD_LINES = {
  chunk: /^Chunk ID: \S+$/,
  wall: /^Wall time: ([\d.]+) seconds$/,
  exit: /^(?:Process exited with code|Exit code:) (-?\d+)$/,
  session: /^Process running with session ID (\S+)$/,
  tokens: /^Original token count: \d+$/,
  lines: /^Total output lines: \d+$/,
} as const;

function readProcessHead(text: string, outermost: boolean): ExecEnvelope | null {
  const seen = new Map<string, string>();
  for (let start = 0; ; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = end - start > 200 ? "" : text.slice(start, end);
    if (line === "Output:" && seen.has("wall")) return processEnvelope(seen, text.slice(end + 1), outermost);
    const kind = Object.entries(HEAD_LINES).find(([name, pattern]) => !seen.has(name) && pattern.test(line));
    if (kind === undefined || newline === -1) return null;
    seen.set(kind[0], kind[1].exec(line)?.[1] ?? "");
    start = newline + 1;
  }
}

function processEnvelope(seen: ReadonlyMap<string, string>, rest: string, outermost: boolean): ExecEnvelope {
  const exit = seen.get("exit");
  const session = seen.get("session") ?? null;
  if (outermost && seen.size === 1) {
    // A patch taken out of a shell command: the shell tool's head stands before that of apply_patch.
    const inner = readProcessHead(rest, false);
    if (inner !== null && inner.exitCode !== null) return inner;
  }
  const exitCode = exit === undefined ? null : Number(exit);
  const ended = exitCode === null ? null : exitCode === 0 ? "completed" : "failed";
  return {
    ...NOTHING,
    text: rest,
    exitCode,
    durationMs: milliseconds(seen.get("wall")),
    backgroundId: session,
    state: session === null ? ended : "running",
  };
}

/** `{"output":"…","metadata":{"exit_code":0,"duration_seconds":0.1}}`, as older versions wrote it. */
function readJsonOutput(text: string): ExecEnvelope | null {
  if (!/^\{\s*"(?:output|metadata)"/.test(text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value) || typeof value["output"] !== "string" || !isRecord(value["metadata"])) return null;
  if (Object.keys(value).some((key) => key !== "output" && key !== "metadata")) return null;
  const { exit_code: exit, duration_seconds: seconds } = value["metadata"];
  const exitCode = typeof exit === "number" ? exit : null;
  return {
    ...NOTHING,
    text: value["output"],
    exitCode,
    durationMs: typeof seconds === "number" ? Math.round(seconds * 1000) : null,
    state: exitCode === null ? null : exitCode === 0 ? "completed" : "failed",
  };
}

function milliseconds(seconds: string | undefined): number | null {
  const value = Number(seconds);
  return seconds === undefined || !Number.isFinite(value) ? null : Math.round(value * 1000);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function jsonText(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value);
    return typeof text === "string" ? text : "";
  } catch {
    // Circular data or big integers: there is nothing to show.
    return "";
  }
}
