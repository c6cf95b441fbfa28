import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { StoreLockedError } from "../store/lock.ts";
import { ownOrJoin } from "./share.ts";

describe("a second instance on one data folder", () => {
  let door: Server | null = null;
  afterEach(() => void door?.close());

  const locked = (lines: string) => (): never => {
    throw new StoreLockedError("/d", { pid: 1, url: null, socket: null, lines });
  };

  test("gives up on an owner that takes connections and says nothing, as soon as on one that takes none", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "foldcast-share-")), "s");
    let taken = 0;
    door = createServer((socket) => {
      taken += 1;
      socket.on("error", () => undefined).resume();
    });
    await new Promise<void>((resolve) => door!.listen(path, resolve));
    await expect(ownOrJoin(locked(path), null, 200)).rejects.toThrow(StoreLockedError);
    // Asked once, the whole patience was its.
    expect(taken).toBe(1);
    await expect(ownOrJoin(locked(`${path}.none`), null, 200)).rejects.toThrow(StoreLockedError);
  });
});
