import { spawnLines, type LineChild } from "@foldcast/adapter-kit";

/** How a program's lines are told apart, by a part of them: nothing is parsed while a time is taken. */
export interface Signs {
  /** A piece of the model's text. */
  delta: string;
  /** The end of a turn. */
  end: string;
}

interface Waiter {
  sign: string;
  resolve: (line: string) => void;
  reject: (error: Error) => void;
}

/** A program that speaks JSON lines on its standard streams and streams the turns that it is asked for. */
export class Speaking {
  readonly #child: LineChild;
  readonly #signs: Signs;
  #waiters: Waiter[] = [];

  private constructor(child: LineChild, signs: Signs) {
    this.#child = child;
    this.#signs = signs;
    void this.#read();
  }

  static async start(command: readonly string[], env: NodeJS.ProcessEnv, cwd: string, signs: Signs): Promise<Speaking> {
    return new Speaking(await spawnLines({ command, cwd, env }), signs);
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Sends a request and resolves with the result of its answer. */
  async ask(request: { id: number; method: string; params: object }): Promise<Record<string, unknown>> {
    const answer = this.#line(`"id":${String(request.id)},`);
    await this.#child.send({ jsonrpc: "2.0", ...request });
    const { result, error } = JSON.parse(await answer) as { result?: Record<string, unknown>; error?: { message: string } };
    if (result === undefined) throw new Error(`${request.method}: ${error?.message ?? "no result"}`);
    return result;
  }

  /** Sends what begins a turn; resolves, when that is over, with the milliseconds until its first piece of text was here. */
  async turn(message: object): Promise<number> {
    let at = 0;
    const first = this.#line(this.#signs.delta).then(() => (at = performance.now()));
    const end = this.#line(this.#signs.end);
    const began = performance.now();
    await Promise.all([this.#child.send(message), first, end]);
    return at - began;
  }

  async stop(): Promise<void> {
    this.#waiters = [];
    await this.#child.close();
  }

  #line(sign: string): Promise<string> {
    return new Promise((resolve, reject) => this.#waiters.push({ sign, resolve, reject }));
  }

  async #read(): Promise<void> {
    for await (const lines of this.#child.lines) {
      for (const line of lines) {
        this.#waiters = this.#waiters.filter(({ sign, resolve }) => {
          if (!line.includes(sign)) return true;
          resolve(line);
          return false;
        });
      }
    }
    const { code, stderr } = await this.#child.exited;
    for (const { reject } of this.#waiters) reject(new Error(`the program ended with ${String(code)}\n${stderr}`));
  }
}
