import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { VERSION } from "../version.ts";
import type { CommandSpec } from "./command.ts";
import { nearest } from "../nearest.ts";
import { UsageError } from "./usage-error.ts";

interface Entry {
  summary: string;
  load(): Promise<CommandSpec>;
}

/** Each command's code is loaded when it is called: `--help` and `replay` need no server. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: { summary: "serve the Codex app-server protocol on a WebSocket", load: async () => (await import("./commands/serve.ts")).command },
  "app-server": { summary: "the same on standard streams, in the place of `codex app-server`", load: async () => (await import("./commands/app-server.ts")).command },
  chat: { summary: "talk with an agent on the terminal or through a pipe", load: async () => (await import("./commands/chat.ts")).command },
  models: { summary: "list the models on offer", load: async () => (await import("./commands/models.ts")).command },
  replay: { summary: "show how saved sessions fold", load: async () => (await import("./commands/replay.ts")).command },
  scenario: { summary: "check a scenario file of the scripted harness", load: async () => (await import("./commands/scenario.ts")).command },
  schema: { summary: "print JSON schemas of what foldcast adds", load: async () => (await import("./commands/schema.ts")).command },
};
const HIDDEN: Readonly<Record<string, Entry>> = {
  "__scripted-child": { summary: "", load: async () => (await import("./commands/scripted-child.ts")).command },
};

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `foldcast makes coding agents look like Codex to its own clients.

Usage: foldcast COMMAND [OPTIONS]

${lines.join("\n")}

Start here:
  foldcast serve                         # then: codex --remote ws://127.0.0.1:4610
  foldcast COMMAND --help                # examples for each command

Exit codes: 0 clean, 1 the work found faults, 2 wrong usage or nothing readable, 3 port taken, 4 store locked.
`;
}

/** Options that `codex` takes before its subcommand; they belong to the subcommand then. */
function splitGlobal(argv: readonly string[]): { before: string[]; command: string | undefined; rest: string[] } {
  const before: string[] = [];
  let at = 0;
  while (at < argv.length) {
    const word = argv[at]!;
    if (["-c", "--config", "--enable", "--disable"].includes(word)) {
      before.push(...argv.slice(at, at + 2));
      at += 2;
    } else if (/^(-c.|--(config|enable|disable)=)/.test(word)) {
      before.push(word);
      at += 1;
    } else break;
  }
  return { before, command: argv[at], rest: argv.slice(at + 1) };
}

async function main(argv: readonly string[]): Promise<number> {
  const { stdout, stderr } = process;
  const { before, command, rest } = splitGlobal(argv);
  if (command === undefined || command === "--help" || command === "-h" || command === "help") {
    (command === undefined ? stderr : stdout).write(help());
    return command === undefined ? 2 : 0;
  }
  if (command === "--version" || command === "-V") {
    stdout.write(`foldcast ${VERSION} (Codex app-server protocol ${PROTOCOL_VERSION})\n`);
    return 0;
  }
  // Own names only: `constructor` is no command.
  const entry = [COMMANDS, HIDDEN].find((each) => Object.hasOwn(each, command))?.[command];
  if (entry === undefined) {
    const meant = nearest(command, Object.keys(COMMANDS));
    stderr.write(`foldcast: there is no command \`${command}\`${meant === null ? "" : `; did you mean \`${meant}\`?`}\nTry foldcast --help.\n`);
    return 2;
  }
  const spec = await entry.load();
  if (rest.includes("--help") || rest.includes("-h")) {
    stdout.write(spec.help);
    return 0;
  }
  try {
    return await spec.run([...before, ...rest], { stdout, stderr });
  } catch (error) {
    stderr.write(`foldcast ${command}: ${error instanceof Error ? error.message : String(error)}\n`);
    if (!(error instanceof UsageError)) return exitCodeOf(error);
    stderr.write(`Try foldcast ${command} --help.\n`);
    return 2;
  }
}

function exitCodeOf(error: unknown): number {
  return error instanceof Error && "exitCode" in error && typeof error.exitCode === "number" ? error.exitCode : 1;
}

// A reader that closes its end early (`| head`) is no fault of the work.
process.stdout.on("error", () => undefined);
const code = await main(process.argv.slice(2));
process.stdout.write("", () => process.exit(code));
