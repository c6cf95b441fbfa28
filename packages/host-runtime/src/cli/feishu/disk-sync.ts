import { open, type FileHandle } from "node:fs/promises";

/** How long a change may be only in the memory of the machine. */
const SOON_MS = 200;

/** Brings a file's changes onto the disk, soon after them, many at once and without holding anybody up. */
export class DiskSync {
  readonly #path: string;
  readonly #failed: (reason: string) => void;
  #file: FileHandle | null = null;
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /** `failed` is called once at most. */
  constructor(path: string, failed: (reason: string) => void) {
    this.#path = path;
    this.#failed = failed;
  }

  soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#work = this.#work.then(() => this.#sync());
    }, SOON_MS);
  }

  /** Syncs what is left and lets the file go. Never rejects. */
  async close(): Promise<void> {
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#timer = null;
      this.#work = this.#work.then(() => this.#sync());
    }
    await this.#work;
    await this.#file?.close().catch(() => undefined);
    this.#file = null;
  }

  async #sync(): Promise<void> {
    try {
      this.#file ??= await open(this.#path, "r+");
      await this.#file.datasync();
    } catch (error) {
      if (!this.#hasFailed) this.#failed(error instanceof Error ? error.message : String(error));
      this.#hasFailed = true;
    }
  }
}
