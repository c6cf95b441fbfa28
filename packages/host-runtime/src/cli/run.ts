import { harnesses } from "@foldcast/adapter-registry";
import { nearest } from "../nearest.ts";
import type { CommandSpec, Streams } from "./command.ts";
import { commandHelp } from "./help.ts";
import { defaultConfigPath, readConfigFile } from "./options/config-file.ts";
import type { ConfigFile } from "./options/config-file.ts";
import { demandHarnessKeys } from "./options/harness-keys.ts";
import { environmentName } from "./options/option.ts";
import type { OptionTable } from "./options/option.ts";
import { pathFrom } from "./options/kinds.ts";
import { parseArguments } from "./options/parse.ts";
import type { Arguments } from "./options/parse.ts";
import { settle } from "./options/settle.ts";
import { ALL_SETTINGS } from "./table/options.ts";
import { UsageError } from "./usage-error.ts";

export interface World extends Streams {
  env: NodeJS.ProcessEnv;
  cwd: string;
}

/** Runs one command and resolves its exit code. What it throws is printed with the next step. */
export async function runCommand(name: string, spec: CommandSpec, argv: readonly string[], world: World): Promise<number> {
  const { stdout, stderr, env } = world;
  try {
    if (asksForHelp(argv)) {
      stdout.write(commandHelp(name, spec));
      return 0;
    }
    const given = parseArguments(argv, spec.options, spec.lenient === true);
    demandVerb(spec, given.positionals);
    refuseStrayWord(name, spec, given.positionals);
    const code = await spec.load();
    return await code.run({ stdout, stderr, env, operands: given.positionals, flags: given.flags, handedOn: given.handedOn, settings: () => settingsOf(spec.options, given, world) });
  } catch (error) {
    stderr.write(`foldcast ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    if (!(error instanceof UsageError)) return exitCodeOf(error);
    stderr.write(`Try foldcast ${name} --help.\n`);
    return 2;
  }
}

function asksForHelp(argv: readonly string[]): boolean {
  const words = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  return words.includes("--help") || words.includes("-h");
}

function demandVerb({ verbs }: CommandSpec, [verb]: readonly string[]): void {
  if (verbs === undefined || (verb !== undefined && Object.hasOwn(verbs, verb))) return;
  const names = Object.keys(verbs);
  if (verb === undefined) throw new UsageError(`say what to do: ${names.join(", ")}`);
  const meant = nearest(verb, names);
  throw new UsageError(`there is no \`${verb}\`; ${meant === null ? `${names.length === 1 ? "there is" : "there are"} ${names.join(", ")}` : `did you mean \`${meant}\`?`}`);
}

function refuseStrayWord(name: string, { verbs, operands, strayWord, lenient }: CommandSpec, [word]: readonly string[]): void {
  if (word === undefined || verbs !== undefined || operands !== undefined || lenient === true) return;
  throw new UsageError(`${strayWord ?? `${name} takes options only`}; got \`${word}\``);
}

async function settingsOf<O extends OptionTable>(options: O, { flags }: Arguments, { env, cwd }: World) {
  const file = Object.values(options).some(({ key }) => key !== undefined) ? await configOf(options, flags, env, cwd) : null;
  return { ...settle(options, { flags, env, file, cwd }), file };
}

async function configOf(options: OptionTable, flags: Arguments["flags"], env: NodeJS.ProcessEnv, cwd: string): Promise<ConfigFile | null> {
  // `app-server` has an option of Codex under this name.
  const flag = options["config"]?.kind.many === true ? undefined : flags["config"];
  const named = typeof flag === "string" ? flag : env[environmentName("config")];
  const asked = named !== undefined && named !== "";
  const file = readConfigFile(asked ? pathFrom(named, cwd) : defaultConfigPath(env), ALL_SETTINGS, harnesses.map(({ id }) => id), asked);
  if (file !== null) await demandHarnessKeys(file, harnesses);
  return file;
}

function exitCodeOf(error: unknown): number {
  return error instanceof Error && "exitCode" in error && typeof error.exitCode === "number" ? error.exitCode : 1;
}
