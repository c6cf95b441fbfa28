import { harnesses } from "@foldcast/adapter-registry";
import type { Call } from "../command.ts";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { shellCommands } from "../completion/model.ts";
import type { ShellCommand } from "../completion/model.ts";
import { zshCompletion } from "../completion/zsh.ts";
import { COMMANDS } from "../table/commands.ts";
import type { NO_OPTIONS } from "../table/options.ts";

const SHELLS: Readonly<Record<string, (commands: readonly ShellCommand[]) => string>> = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export function run({ operands: [shell = ""], stdout }: Call<typeof NO_OPTIONS>): Promise<number> {
  stdout.write(SHELLS[shell]!(shellCommands(COMMANDS, harnesses.map(({ id }) => id))));
  return Promise.resolve(0);
}
