/** One `foldcast` command. */
export interface CommandSpec {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** What `--help` prints. */
  help: string;
  /** `argv` without the command's own name. Resolves the exit code: 0 clean, 1 faults found, 2 wrong usage, 3 port taken, 4 store locked. */
  run(argv: string[], io: { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream }): Promise<number>;
}
