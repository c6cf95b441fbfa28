/** How the real Codex is started: `<program> <args…> app-server --listen unix://…`. */
export interface NativeProgram {
  /** Its path, or a name on the search path of `env`. */
  program: string;
  /** Flags that go before `app-server` and after it, as the person gave them (`-c key=value`, `--analytics-default-enabled`). */
  globalArgs?: readonly string[];
  args: readonly string[];
  /** The whole environment of the child. */
  env: NodeJS.ProcessEnv;
}
