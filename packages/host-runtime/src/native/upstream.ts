/** How the real Codex is started: `<program> <args…> --listen unix://…`. */
export interface NativeProgram {
  /** Its path, or a name on the search path of `env`. */
  program: string;
  /** All that goes before `--listen`, the subcommand included: `-c features.x=true app-server --analytics-default-enabled`. */
  args: readonly string[];
  /** The whole environment of the child. */
  env: NodeJS.ProcessEnv;
}
