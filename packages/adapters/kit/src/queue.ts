const SETTLED = Promise.resolve();

interface Waiter<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

/**
 * A bounded queue between one producer side and one consumer, for a session's `events`.
 *
 * A pushed value is always taken at once and in order, so that an event and its place in a saved file cannot part;
 * what waits is the producer: `push` resolves when fewer than `capacity` values are unread. A producer that awaits
 * every push therefore keeps at most `capacity` values in memory per producer, plus one.
 *
 * - `end()`: no more values; the consumer reads what is left, then the stream is done.
 * - `fail(error)`: the same, but the stream then throws once.
 * - `close()`: the consumer gets nothing more; unread values are dropped.
 *
 * Each of the three settles every waiting `push` and, as far as nothing is left to read, every waiting read; later
 * calls of any of them and later pushes do nothing. A consumer that leaves its loop closes the queue.
 */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #capacity: number;
  #values: T[] = [];
  #head = 0;
  #readers: Waiter<T>[] = [];
  #room: { promise: Promise<void>; open: () => void } | null = null;
  #state: "open" | "ended" | "failed" = "open";
  #error: unknown = undefined;
  #taken = false;

  constructor(capacity = 256) {
    if (!(capacity >= 1)) throw new RangeError("The capacity of a queue must be at least 1.");
    this.#capacity = capacity;
  }

  /** Unread values. */
  get size(): number {
    return this.#values.length - this.#head;
  }

  get open(): boolean {
    return this.#state === "open";
  }

  /** Takes the value; resolves when there is room for another one. Never rejects; after the end the value is dropped. */
  push(value: T): Promise<void> {
    if (this.#state !== "open") return SETTLED;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve({ value, done: false });
    else this.#values.push(value);
    return this.room();
  }

  /** Resolves when fewer than `capacity` values are unread, or the queue ended. */
  room(): Promise<void> {
    if (this.#state !== "open" || this.size < this.#capacity) return SETTLED;
    if (this.#room === null) {
      let open!: () => void;
      const promise = new Promise<void>((resolve) => (open = resolve));
      this.#room = { promise, open };
    }
    return this.#room.promise;
  }

  end(): void {
    if (this.#state !== "open") return;
    this.#state = "ended";
    this.#settle();
  }

  fail(error: unknown): void {
    if (this.#state !== "open") return;
    this.#state = "failed";
    this.#error = error;
    this.#settle();
  }

  close(): void {
    this.#values = [];
    this.#head = 0;
    // A failure that nobody read goes with the values.
    this.#state = "ended";
    this.#settle();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    if (this.#taken) throw new TypeError("The queue has a consumer already.");
    this.#taken = true;
    return {
      next: () => this.#next(),
      return: () => {
        this.close();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    if (this.size > 0) {
      const value = this.#values[this.#head]!;
      // Drops the reference: the slot itself goes with the next compaction.
      this.#values[this.#head] = undefined as T;
      this.#head += 1;
      if (this.#head >= 64 && this.#head * 2 >= this.#values.length) {
        this.#values = this.#values.slice(this.#head);
        this.#head = 0;
      }
      if (this.size < this.#capacity) this.#openRoom();
      return Promise.resolve({ value, done: false });
    }
    if (this.#state === "open") return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
    if (this.#state === "ended") return Promise.resolve({ value: undefined, done: true });
    this.#state = "ended";
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- passes on what the producer gave
    return Promise.reject(this.#error);
  }

  #openRoom(): void {
    this.#room?.open();
    this.#room = null;
  }

  #settle(): void {
    this.#openRoom();
    // Readers wait only while nothing is unread, so none of them can miss a value here.
    const readers = this.#readers;
    this.#readers = [];
    for (const reader of readers) {
      if (this.#state === "failed") {
        this.#state = "ended";
        reader.reject(this.#error);
      } else reader.resolve({ value: undefined, done: true });
    }
  }
}
