import { describe, expect, it } from "vitest";
import type { HarnessSession } from "@foldcast/protocol-core/harness";
import { OpenSessions } from "./open-sessions.ts";

class Session implements HarnessSession {
  readonly nativeSessionId: string;
  readonly file = null;
  readonly events = { async *[Symbol.asyncIterator]() {} };
  readonly #onEnd: () => void;
  isOver = false;

  constructor(id: string, onEnd: () => void) {
    this.nativeSessionId = id;
    this.#onEnd = onEnd;
  }

  startTurn = (): Promise<void> => Promise.resolve();
  steer = (): Promise<void> => Promise.resolve();
  cancel = (): Promise<void> => Promise.resolve();
  answer = (): Promise<void> => Promise.resolve();
  select = (): Promise<void> => Promise.resolve();

  close(): Promise<void> {
    this.isOver = true;
    this.#onEnd();
    return Promise.resolve();
  }
}

const starts = (id: string) => (onEnd: () => void): Promise<Session> => Promise.resolve(new Session(id, onEnd));

describe("open sessions", () => {
  it("are open once each, whether they run or still start; and again when they are over", async () => {
    const sessions = new OpenSessions<Session>("The agent");
    const opening = sessions.open("a", starts("a"));
    await expect(sessions.open("a", starts("a"))).rejects.toThrow("The session a is open already.");
    const first = await opening;
    await expect(sessions.open("a", starts("a"))).rejects.toThrow("The session a is open already.");
    await first.close();
    expect((await sessions.open("a", starts("a"))).isOver).toBe(false);
  });

  it("are known by the id that they got while they started", async () => {
    const sessions = new OpenSessions<Session>("The agent");
    await sessions.open(null, starts("b"));
    await expect(sessions.open("b", starts("b"))).rejects.toThrow("open already");
  });

  it("that could not be started leave their id free", async () => {
    const sessions = new OpenSessions<Session>("The agent");
    await expect(sessions.open("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect((await sessions.open("a", starts("a"))).nativeSessionId).toBe("a");
  });

  it("are closed together, with one that still starts; none is opened afterwards", async () => {
    const sessions = new OpenSessions<Session>("The agent");
    const one = await sessions.open("a", starts("a"));
    let release: (session: Session) => void = () => undefined;
    let late: Session | undefined;
    const starting = sessions.open("b", (onEnd) => new Promise<Session>((resolve) => {
      late = new Session("b", onEnd);
      release = resolve;
    }));
    await sessions.close();
    release(late!);
    await expect(starting).rejects.toThrow("The agent is closed.");
    expect([one.isOver, late!.isOver]).toEqual([true, true]);
    await expect(sessions.open("c", starts("c"))).rejects.toThrow("The agent is closed.");
  });
});
