import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { nearest } from "../nearest.ts";
import { VERSION } from "../version.ts";
import { lengthOf, ROOT_WORDS, SHARED_WORDS } from "../native/codex-words.ts";
import { programHelp } from "./help.ts";
import { runCommand } from "./run.ts";
import { COMMANDS } from "./table/commands.ts";

/** Options that `codex` takes before its subcommand; those that count for every subcommand belong to it then. */
function splitGlobal(argv: readonly string[]): { before: string[]; dropped: string | null; command: string | undefined; rest: string[] } {
  const before: string[] = [];
  let dropped: string | null = null;
  let at = 0;
  for (let length; (length = lengthOf(argv[at] ?? "", ROOT_WORDS)) !== null; at += length) {
    if (lengthOf(argv[at]!, SHARED_WORDS) !== null) before.push(...argv.slice(at, at + length));
    else dropped ??= argv[at]!;
  }
  return { before, dropped, command: argv[at], rest: argv.slice(at + 1) };
}

async function main(argv: readonly string[]): Promise<number> {
  const { stdout, stderr, env } = process;
  const { before, dropped, command: named, rest } = splitGlobal(argv);
  // Codex lets its TUI's options stand before `app-server`, where they do nothing; for other commands they are unknown.
  const command = dropped === null || named === "app-server" ? named : dropped;
  const asked = command === "help" ? rest[0] : undefined;
  if (command === undefined || command === "--help" || command === "-h" || (command === "help" && asked === undefined)) {
    (command === undefined ? stderr : stdout).write(programHelp(COMMANDS));
    return command === undefined ? 2 : 0;
  }
  if (command === "--version" || command === "-V" || command === "-v" || command === "version") {
    stdout.write(`foldcast ${VERSION} (Codex app-server protocol ${PROTOCOL_VERSION})\n`);
    return 0;
  }
  const name = asked ?? command;
  // Own names only: `constructor` is no command.
  const spec = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (spec === undefined) {
    const meant = nearest(name, Object.entries(COMMANDS).flatMap(([each, { hidden }]) => (hidden === true ? [] : [each])));
    stderr.write(`foldcast: there is no command \`${name}\`${meant === null ? "" : `; did you mean \`${meant}\`?`}\nTry foldcast --help.\n`);
    return 2;
  }
  return await runCommand(name, spec, asked === undefined ? [...before, ...rest] : ["--help"], { stdout, stderr, env, cwd: process.cwd() });
}

// An empty variable counts as none; the system would take the current folder for the home folder, and threads would go there.
if (process.env["HOME"] === "") delete process.env["HOME"];
// A reader that closes its end early (`| head`) is no fault of the work.
process.stdout.on("error", () => undefined);
const code = await main(process.argv.slice(2));
process.stdout.write("", () => process.exit(code));
