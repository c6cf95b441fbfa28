export interface StoredFile {
  readonly key: string;
  readonly name: string | null;
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** Uploaded images and files, and those that people sent. */
export class FileStore {
  readonly #files = new Map<string, StoredFile>();
  #count = 0;

  add(kind: "image" | "file", name: string | null, bytes: Uint8Array, contentType: string): StoredFile {
    this.#count += 1;
    const key = `${kind === "image" ? "img_v3" : "file_v3"}_${this.#count.toString(16).padStart(8, "0")}-0000-0000-0000-00000000000g`;
    const file: StoredFile = { key, name, bytes, contentType };
    this.#files.set(key, file);
    return file;
  }

  get(key: string): StoredFile | undefined {
    return this.#files.get(key);
  }

  has(key: string): boolean {
    return this.#files.has(key);
  }
}
