import { afterEach, describe, expect, it } from "vitest";
import type { Fault } from "../fake/index.ts";
import { createFeishuPort } from "./feishu-port.ts";
import { readRefusal } from "./refusal.ts";
import { FeishuSdkMissingError, loadSdk } from "./sdk.ts";
import { startPortOnFake, valueOf, type PortOnFake } from "./testing.ts";

let world: PortOnFake | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const card = { schema: "2.0" as const, body: { elements: [{ tag: "markdown", element_id: "a", content: "text" }] } };

async function withFault(fault: Fault, api = "card.create") {
  world ??= await startPortOnFake();
  world.fake.planFaults({ faults: [{ id: "f", on: { api, nth: 1 }, fault }] });
  const outcome = await world.port.createCard(card);
  expect(world.fake.pendingFaults()).toEqual([]);
  return outcome;
}

describe("what becomes of a request", () => {
  it("is uncertain after HTTP 5xx, a cut and a lost answer, whether it was done or not", async () => {
    for (const status of [500, 502, 503, 504] as const) expect(await withFault({ kind: "serverError", status, effect: status > 502 })).toMatchObject({ kind: "uncertain", uncertainty: { reason: "serverError", httpStatus: status } });
    expect(await withFault({ kind: "cut" })).toMatchObject({ kind: "uncertain", uncertainty: { reason: "connection" } });
    expect(await withFault({ kind: "lostAnswer" })).toMatchObject({ kind: "uncertain", uncertainty: { reason: "connection" } });
    expect(world?.fake.unsentCards()).toHaveLength(3);
  });

  it("is uncertain after a time-out, also where it was done", async () => {
    world = await startPortOnFake({ config: { requestTimeoutMs: 1_000 } });
    // The token and all else that only the first one waits for.
    while ((await world.port.createCard(card)).kind !== "ok");
    const before = world.fake.unsentCards().length;
    expect(await withFault({ kind: "slow", delayMs: 30_000, when: "after" })).toMatchObject({ kind: "uncertain", uncertainty: { reason: "timeout" } });
    expect(world.fake.unsentCards()).toHaveLength(before + 1);
  });

  it("is a refusal when the token could not be fetched or nobody listens: nothing was sent", async () => {
    expect(await withFault({ kind: "serverError", status: 500, effect: false }, "token")).toMatchObject({ kind: "refused", refusal: { kind: "unreachable", retryable: true } });
    expect(await withFault({ kind: "cut" }, "token")).toMatchObject({ kind: "refused", refusal: { kind: "unreachable" } });
    const dead = createFeishuPort({ appId: world!.fake.app.appId, appSecret: "x".repeat(20), baseUrl: "http://127.0.0.1:9" });
    expect(await dead.createCard(card)).toMatchObject({ kind: "refused", refusal: { kind: "unreachable", code: null } });
    await dead.close();
  });

  it("counts code ≠ 0 as a refusal with HTTP 200 as with HTTP 400", async () => {
    for (const status of [200, 400]) expect(await withFault({ kind: "refuse", code: 300305, msg: "too many", status })).toMatchObject({ kind: "refused", refusal: { kind: "tooManyElements", code: 300305, httpStatus: status, retryable: false } });
  });

  it("repeats no secret that an answer repeats", async () => {
    const told = "Invalid access token Bearer t-g1044ghJRUIJJ5ELTGEOYAZR";
    const outcome = await withFault({ kind: "refuse", code: 300305, msg: told, status: 400 });
    expect(outcome).toMatchObject({ refusal: { code: 300305, msg: "Invalid access token Bearer ‹hidden›" } });
    expect(JSON.stringify(await withFault({ kind: "refuse", code: 2200, msg: told, status: 200 }))).not.toContain("t-g1044");
  });

  it("tells how long Feishu asks to wait, and sends nothing of that API before", async () => {
    const start = performance.now();
    const outcome = await withFault({ kind: "rateLimit", resetSeconds: 1 });
    expect(outcome).toMatchObject({ kind: "refused", refusal: { kind: "rateLimited", retryable: true, retryAfterMs: 1_000 } });
    valueOf(await world!.port.createCard(card));
    expect(performance.now() - start).toBeGreaterThan(900);
    expect(world!.fake.broken()).toEqual([]);
  });

  it("renews a token that is taken no more, once", async () => {
    world = await startPortOnFake();
    valueOf(await world.port.createCard(card));
    world.fake.advance({ ms: 3 * 3_600_000 });
    valueOf(await world.port.createCard(card));
    expect(world.fake.calls().filter(({ api }) => api === "token")).toHaveLength(2);
  });

  it("fetches one token for many calls at once", async () => {
    world = await startPortOnFake();
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => world!.port.createCard(card)));
    expect(outcomes.every(({ kind }) => kind === "ok")).toBe(true);
    expect(world.fake.calls().filter(({ api }) => api === "token")).toHaveLength(1);
  });
});

describe("reading a refusal", () => {
  const answer = (code: number, msg = "", httpStatus = 400) => readRefusal({ httpStatus, code, msg, rateLimitResetSeconds: null, logId: null });

  it.each([
    [300317, "", "sequence"], [200850, "", "streamingClosed"], [300309, "", "streamingClosed"], [200810, "", "cardBusy"], [200770, "", "alreadyApplied"], [300313, "", "outOfSync"], [200860, "", "tooLarge"],
    [230020, "", "rateLimited"], [230099, "Failed, ext=ErrCode: 11310; ErrMsg: card table number over limit", "tableLimit"], [230099, "ErrCode: 11310; ErrMsg: element exceeds the limit", "tooManyElements"],
    [230099, "ErrCode: 200570; ErrMsg: bad key", "badImage"], [230099, "ErrCode: 200621; ErrMsg: parse", "invalidCard"], [230099, "ErrCode: 999; ErrMsg: new", "invalidCard"], [200740, "", "gone"], [230011, "", "gone"],
    [230071, "", "noThread"], [230028, "", "audit"], [230002, "", "forbidden"], [99991663, "", "unauthorized"], [10002, "", "badRequest"], [424242, "", "unknown"],
  ] as const)("%i %s is %s", (code, msg, kind) => {
    expect(answer(code, msg)).toMatchObject({ kind: "refused", refusal: { kind, code } });
  });

  it("never counts an internal error as a refusal", () => {
    expect(answer(2200)).toMatchObject({ kind: "uncertain" });
    expect(answer(230049)).toMatchObject({ kind: "uncertain", uncertainty: { code: 230049 } });
    expect(answer(300317, "", 502)).toMatchObject({ kind: "uncertain" });
    expect(answer(0, "", 429)).toMatchObject({ kind: "refused", refusal: { kind: "rateLimited", retryAfterMs: 1_000 } });
  });
});

describe("the optional package", () => {
  it("is asked for by name and version when it is missing or strange", () => {
    expect(() => loadSdk(() => { throw new Error("Cannot find module"); })).toThrow(FeishuSdkMissingError);
    expect(() => loadSdk(() => { throw new Error("Cannot find module\nmore"); })).toThrow(/npm install @larksuiteoapi\/node-sdk@1\.74\.0\): Cannot find module$/);
    expect(() => loadSdk(() => ({ Client: Map }))).toThrow(/1\.74\.0 is known to work/);
  });
});
