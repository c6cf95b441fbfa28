import { mkdtempSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestHost } from "../testing/client.ts";
import type { TestHost } from "../testing/client.ts";
import { bridge, joinOwner } from "./bridge.ts";
import type { Listener } from "./listen.ts";
import { linesDoor, localDoors, openLinesDoor } from "./local-door.ts";

const INITIALIZE = '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"t","title":null,"version":"1"},"capabilities":null}}\n';

describe("where an owner listens for its user alone", () => {
  test("is the data folder, where its path can stand in an address", () => {
    expect(localDoors("/home/me/.local/share/foldcast", "/home/me", "linux")).toEqual({ socket: "/home/me/.local/share/foldcast/host.sock", lines: "/home/me/.local/share/foldcast/host.lines.sock" });
  });
  test("is the home folder, where a path has a space or is too long for the system", () => {
    const mac = localDoors("/Users/me/Library/Application Support/foldcast", "/Users/me", "darwin")!;
    expect(mac.socket).toMatch(/^\/Users\/me\/\.foldcast\/[0-9a-f]{12}\.sock$/);
    const long = localDoors(`/srv/${"x".repeat(80)}`, "/home/me", "linux")!;
    expect(long.lines).toMatch(/^\/home\/me\/\.foldcast\/[0-9a-f]{12}\.lines\.sock$/);
    expect(long).not.toEqual(localDoors(`/srv/${"y".repeat(80)}`, "/home/me", "linux"));
  });
  test("is nowhere, where neither can be", () => {
    expect(localDoors("/a b", "/home/of me", "linux")).toBeNull();
    expect(localDoors("/a", "/home/me", "win32")).toBeNull();
  });
  test("is there for other instances whatever the folders are called, as no address names it", () => {
    expect(linesDoor("/Users/Zo\u00eb/a b", "/Users/Zo\u00eb", "darwin")).toBe("/Users/Zo\u00eb/a b/host.lines.sock");
    expect(linesDoor(`/srv/${"\u00eb".repeat(40)}`, "/home/of me", "linux")).toMatch(/^\/home\/of me\/\.foldcast\/[0-9a-f]{12}\.lines\.sock$/);
    expect(linesDoor("/a b", "/home/me", "linux")).toBe(localDoors("/a b", "/home/me", "linux")?.lines);
    expect(linesDoor("/a b", "/home/me", "win32")).toBeNull();
    expect(linesDoor(`/srv/${"x".repeat(99)}`, `/home/${"x".repeat(99)}`, "linux")).toBeNull();
  });
});

describe("the lines door", () => {
  let setup: TestHost;
  let door: Listener;
  let path: string;
  const models: (string | null)[] = [];
  beforeEach(async () => {
    models.length = 0;
    setup = await startTestHost();
    path = join(mkdtempSync(join(tmpdir(), "foldcast-door-")), "x", "lines.sock");
    door = await openLinesDoor(path, (transport, { model }) => {
      models.push(model);
      return setup.host.connect(transport);
    }, () => undefined, ["-c", "a=b"]);
  });
  afterEach(async () => {
    await door.close();
    await setup.host.close();
  });

  test("is private", () => {
    expect([statSync(path).mode & 0o777, statSync(join(path, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test("carries lines in whatever pieces, and the last answers after the client's end", async () => {
    const joined = (await joinOwner(path, { foldcast: "join", model: "one/m" }))!;
    expect([joined.pid, joined.codexWords, models]).toEqual([process.pid, ["-c", "a=b"], ["one/m"]]);
    const [input, output] = [new PassThrough(), new PassThrough()];
    let said = "";
    output.setEncoding("utf8").on("data", (text: string) => (said += text));
    const ended = bridge(joined, input, output);
    for (const part of (INITIALIZE + '{"id":2,"method":"thread/list","params":{}}').match(/[^]{1,7}/g)!) input.write(part);
    input.end();
    expect(await ended).toBe("client");
    const answers = said.trim().split("\n").map((line) => JSON.parse(line) as { id?: number; result?: object });
    expect(answers.flatMap(({ id, result }) => (id === undefined ? [] : [[id, typeof result]]))).toEqual([[1, "object"], [2, "object"]]);
  });

  test("serves a guest that does not wait for its welcome", async () => {
    const socket = connect(path);
    let said = "";
    socket.setEncoding("utf8").on("data", (text: string) => (said += text));
    socket.end(`{"foldcast":"join","model":null}\n${INITIALIZE}`);
    await new Promise((resolve) => socket.once("close", resolve));
    expect(said.trim().split("\n").slice(0, 2).map((line) => Object.keys(JSON.parse(line) as object))).toEqual([["foldcast", "pid", "codexWords"], ["id", "result"]]);
  });

  test("tells an end of the owner from one of the client", async () => {
    const joined = (await joinOwner(path, { foldcast: "join", model: null }))!;
    const ended = bridge(joined, new PassThrough(), new PassThrough().resume());
    await door.close();
    expect(await ended).toBe("owner");
    expect(await joinOwner(path, { foldcast: "join", model: null })).toBeNull();
  });

  test("lets nobody in who does not say what it is", async () => {
    for (const words of ["GET / HTTP/1.1\r\n\r\n", INITIALIZE, "\n", "x".repeat(10_000), '{"foldcast":"join"}\n']) {
      const socket = connect(path);
      socket.on("error", () => undefined);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      let answer = "";
      socket.on("data", (chunk) => (answer += String(chunk)));
      socket.write(words);
      await closed;
      expect(answer).toBe("");
    }
    expect(models).toEqual([]);
  });
});
