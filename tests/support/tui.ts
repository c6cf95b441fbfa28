import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { codexProgram } from "./codex.ts";
import { atExit } from "./exit.ts";
import { CACHE, isolatedEnv, temporaryDir } from "./paths.ts";
import { sleep, until } from "./wait.ts";

const run = promisify(execFile);
const CAPTURES = join(CACHE, "captures");
/** Stands in the composer while it is empty. */
const PLACEHOLDER = "Ask Codex to do anything";
let count = 0;

export interface TuiOptions {
  args?: readonly string[];
  cwd?: string;
  columns?: number;
  rows?: number;
  /** The TUI's own `config.toml`; the server's is another one. */
  config?: string;
}

/** The real Codex TUI in a terminal of its own, connected to a server. Use it with `await using`. */
export class Tui implements AsyncDisposable {
  readonly #socket: string;
  readonly #name: string;
  readonly #exitFile: string;
  #callOff: () => void = () => undefined;

  private constructor(socket: string, name: string, exitFile: string) {
    this.#socket = socket;
    this.#name = name;
    this.#exitFile = exitFile;
  }

  /** `args` go to `codex` after `--remote URL` (`["resume", ID]` opens a thread). `name` names the captures. */
  static async start(url: string, name: string, options: TuiOptions = {}): Promise<Tui> {
    const { bin } = await codexProgram();
    const home = temporaryDir("tui-home");
    mkdirSync(join(home, ".codex"));
    if (options.config !== undefined) writeFileSync(join(home, ".codex/config.toml"), options.config);
    const config = join(home, "tmux.conf");
    // The whole scrollback is looked at; the status line of tmux would cost a row.
    writeFileSync(config, "set -g history-limit 100000\nset -g status off\nset -g default-terminal xterm-256color\nset -g remain-on-exit on\n");
    const tui = new Tui(`foldcast-${process.pid}-${count++}`, name, join(home, "exit-code"));
    // Inline mode: in the alternate screen the terminal keeps no scrollback.
    const program = [bin, "--no-alt-screen", "--remote", url, ...(options.args ?? [])].map((word) => `'${word}'`).join(" ");
    const size = ["-x", String(options.columns ?? 110), "-y", String(options.rows ?? 45)];
    // The shell keeps the exit code: tmux 3.3 now and then leaves an ended program unreaped and never knows it.
    const command = `${program}; echo $? > '${tui.#exitFile}.new'; mv '${tui.#exitFile}.new' '${tui.#exitFile}'`;
    await run("tmux", ["-L", tui.#socket, "-f", config, "new-session", "-d", ...size, "-c", options.cwd ?? home, command], {
      env: isolatedEnv(home, { TERM: "xterm-256color", NO_COLOR: "1" }),
    });
    tui.#callOff = atExit(() => tui.#killNow());
    return tui;
  }

  /** Resolves when the composer is empty and takes a prompt. */
  async ready(timeoutMs = 60_000): Promise<void> {
    await until("an empty composer", async () => ((await this.screen()).includes(PLACEHOLDER) ? true : undefined), {
      timeoutMs,
      everyMs: 100,
    });
  }

  /** Types a prompt and sends it. */
  async submit(text: string): Promise<void> {
    await this.type(text);
    await until("the typed text", async () => ((await this.screen()).includes(text.slice(0, 40)) ? true : undefined), { timeoutMs: 60_000, everyMs: 50 });
    await this.enter(text);
  }

  /**
   * Presses Enter until the composer has let `text` go: the TUI takes an Enter that comes in one burst with text for a
   * pasted newline, and drops one that comes before its thread is there. What stands in the composer's place then may
   * be a question, which an Enter too many would answer.
   */
  async enter(text: string): Promise<void> {
    const taken = async (): Promise<true | undefined> => ((await this.#composer()).startsWith(text.slice(0, 40)) ? undefined : true);
    for (let attempt = 1; ; attempt++) {
      await sleep(300);
      if (attempt > 1 && (await taken())) return;
      await this.press("Enter");
      try {
        await until("the composer to let the text go", taken, { timeoutMs: 5_000, everyMs: 100, describe: () => text });
        return;
      } catch (error) {
        if (attempt === 10) throw error;
      }
    }
  }

  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", text);
  }

  /** Keys by tmux's names: `Escape`, `Enter`, `C-c`, `C-t`. */
  async press(...keys: string[]): Promise<void> {
    await this.#tmux("send-keys", ...keys);
  }

  /** What is on the screen now. */
  screen(): Promise<string> {
    return this.#tmux("capture-pane", "-p");
  }

  /** What the lowest marked line holds: the composer's, or the chosen answer of a question in its place. */
  async #composer(): Promise<string> {
    return (await this.screen()).split("\n").findLast((line) => line.startsWith("› "))?.slice(2) ?? "";
  }

  /** Everything that was ever printed, the screen included. */
  scrollback(): Promise<string> {
    return this.#tmux("capture-pane", "-p", "-S", "-");
  }

  /** Resolves with the scrollback once it matches; rejects with it when it does not in time. */
  async waitFor(what: RegExp | string | ((scrollback: string) => boolean), timeoutMs = 60_000): Promise<string> {
    let seen = "";
    const matches = (text: string): boolean => (typeof what === "string" ? text.includes(what) : typeof what === "function" ? what(text) : what.test(text));
    try {
      return await until(`${String(what)} in the TUI`, async () => (matches((seen = await this.scrollback())) ? seen : undefined), {
        timeoutMs,
        everyMs: 100,
        describe: () => seen,
      });
    } catch (error) {
      await this.capture("failed");
      throw error;
    }
  }

  /** Resolves when the program has ended, with its exit code. */
  async waitForExit(timeoutMs = 60_000): Promise<number> {
    return until("the TUI's end", () => (existsSync(this.#exitFile) ? Number(readFileSync(this.#exitFile, "utf8")) : undefined), { timeoutMs, everyMs: 100 });
  }

  /**
   * Quits and gives the exit code. Ctrl-C once is enough in an idle TUI, and a second one would hit the program while
   * it puts the terminal back; a TUI that first asks gets the second one.
   */
  async quit(): Promise<number> {
    await this.press("C-c");
    return this.waitForExit(5_000).catch(async () => {
      await this.press("C-c");
      return this.waitForExit();
    });
  }

  /** Keeps the scrollback as a file in the cache, to be looked at. */
  async capture(step: string): Promise<void> {
    mkdirSync(CAPTURES, { recursive: true });
    writeFileSync(join(CAPTURES, `${this.#name}-${step}.txt`), await this.scrollback());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#callOff();
    await this.#tmux("kill-server").catch(() => undefined);
  }

  async #tmux(...args: string[]): Promise<string> {
    return (await run("tmux", ["-L", this.#socket, ...args], { maxBuffer: 1 << 26 })).stdout;
  }

  #killNow(): void {
    try {
      execFileSync("tmux", ["-L", this.#socket, "kill-server"], { stdio: "ignore" });
    } catch {
      // It has ended already.
    }
  }
}
