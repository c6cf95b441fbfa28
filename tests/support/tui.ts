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
/** Typed to see whether the TUI has come so far; no prompt and no question of a test has it. */
const MARK = "=";
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
    await until("the typed text", async () => ((await this.#composer()).startsWith(text.slice(0, 40)) ? true : undefined), { timeoutMs: 60_000, everyMs: 50 });
    await this.enter(text);
  }

  /**
   * Presses Enter until the composer has let `text` go: the TUI takes an Enter that comes in one burst with text for a
   * pasted newline, and drops one that comes before its thread is there. What stands in the composer's place then may
   * be a question, which an Enter too many would answer: it is pressed again only where the last one was dropped.
   */
  async enter(text: string): Promise<void> {
    for (let attempt = 1; attempt <= 10; attempt++) {
      // Longer than what the TUI takes for one burst.
      await sleep(300);
      await this.press("Enter");
      if (await this.#letGo(text)) return;
    }
    throw new Error(`the composer does not let ${text} go\n${await this.screen()}`);
  }

  /**
   * Whether the TUI has taken an Enter behind `text`. Keys are handled in their order: where one that was typed later
   * stands behind the text, the Enter was dropped, and not just read late.
   */
  async #letGo(text: string): Promise<boolean> {
    let screen = "";
    const holds = async (): Promise<boolean> => composerOf((screen = await this.screen())).startsWith(text.slice(0, 40));
    let without = 0;
    const taken = async (): Promise<true | undefined> => {
      // A screen that is just being drawn may have no composer.
      without = (await holds()) ? 0 : without + 1;
      return without === 2 ? true : undefined;
    };
    if (await until("an empty composer", taken, { timeoutMs: 5_000, everyMs: 100 }).catch(() => false)) return true;
    const marks = (): number => screen.split(MARK).length;
    const before = marks();
    await this.type(MARK);
    const isTaken = await until("what became of an Enter", async () => (await taken()) ?? (marks() > before ? false : undefined), { everyMs: 100, describe: () => screen });
    await this.press("BSpace");
    await until("the composer without the mark", async () => (await holds(), marks() <= before || undefined), { everyMs: 100, describe: () => screen });
    return isTaken;
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

  async #composer(): Promise<string> {
    return composerOf(await this.screen());
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
   * Quits an idle TUI with an empty composer and gives the exit code. One Ctrl-C is enough there; a second one would hit
   * the program while it puts the terminal back.
   */
  async quit(): Promise<number> {
    await this.press("C-c");
    return this.waitForExit();
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

/** What the lowest marked line holds: the composer's, or the chosen answer of a question in its place. */
function composerOf(screen: string): string {
  return screen.split("\n").findLast((line) => line.startsWith("› "))?.slice(2) ?? "";
}
