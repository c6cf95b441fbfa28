import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScenarioInput } from "../model-server/index.ts";
import { QUIET_TUI } from "./native.ts";
import { tap, type Tap } from "./tap.ts";
import { Tui } from "./tui.ts";
import { finished, gone, settled, shown, slash } from "./tui-steps.ts";
import { until } from "./wait.ts";

const ESCALATED = { sandbox_permissions: "require_escalated", justification: "May it be made?" };
const patch = (name: string): string => `*** Begin Patch\n*** Add File: ${name}\n+hi\n*** Update File: a.txt\n@@\n-one\n+ONE\n two\n*** End Patch`;

/** What the model says in the flows; every prompt has its answer. */
export const FLOWS_SCENARIO: ScenarioInput = {
  replies: [
    { match: { says: "Generate a concise, single-line task title" }, blocks: [{ text: "{\"title\":\"Named by the model\"}" }], times: 0 },
    { match: { says: "use the tools" }, blocks: [
      { thinking: "**Look**\n\nFirst the files.", chunks: 3 }, { text: "I look at the files.", phase: "commentary", chunks: 3 },
      { tool: { id: "c1", name: "exec_command", input: { cmd: "cat a.txt && ls" } } },
    ] },
    { match: { resultOf: "c1" }, blocks: [{ tool: { id: "c2", name: "update_plan", input: { plan: [{ step: "Edit", status: "in_progress" }] } } }] },
    { match: { resultOf: "c2" }, blocks: [{ tool: { id: "c3", name: "apply_patch", input: patch("new.txt") } }] },
    { match: { resultOf: "c3" }, blocks: [{ text: "The classic tools are done.", phase: "final_answer", chunks: 4 }] },
    { match: { says: "ask me" }, blocks: [{ tool: { id: "y1", name: "exec_command", input: { cmd: "echo made > made.txt; echo it is made", ...ESCALATED } } }] },
    { match: { resultOf: "y1" }, blocks: [{ text: "It was allowed.", phase: "final_answer", chunks: 2 }] },
    { match: { says: "try it again" }, blocks: [{ tool: { id: "n1", name: "exec_command", input: { cmd: "touch never.txt", ...ESCALATED } } }] },
    { match: { says: "go on for long" }, blocks: [{ text: "I begin the long work.", phase: "commentary" }, { tool: { id: "l1", name: "exec_command", input: { cmd: "until [ -e steered ]; do sleep 0.1; done; echo long work", yield_time_ms: 30_000 } } }] },
    { match: { resultOf: "l1", says: "and hurry" }, blocks: [{ text: "I have hurried.", phase: "final_answer", chunks: 2 }] },
    { match: { says: "never end" }, blocks: [{ text: "This has no end", chunks: 3 }, { text: "and is never seen" }], hang: true },
    { match: { says: "use a program" }, blocks: [
      { text: "A program then.", phase: "commentary" },
      { tool: { id: "p1", name: "exec", input: "const r = await tools.exec_command({cmd: \"cat a.txt\"}); text(r.output)" } },
    ] },
    { match: { resultOf: "p1" }, blocks: [{ tool: { id: "p2", name: "exec", input: `await tools.apply_patch(${JSON.stringify(patch("by-program.txt"))}); await tools.update_plan({plan: [{step: "Edit", status: "completed"}]})` } }] },
    { match: { resultOf: "p2" }, blocks: [{ text: "The program is done.", phase: "final_answer", chunks: 2 }] },
    { match: { says: "in the fork" }, blocks: [{ text: "This is the fork.", phase: "final_answer" }] },
    { match: { says: "after the resume" }, blocks: [{ text: "It goes on.", phase: "final_answer" }] },
  ],
};

/** What a flow left: the frames of all its connections, and what its terminals showed, by step. */
export interface FlowRecord {
  frames: Tap["frames"];
  screens: Record<string, string>;
}

/**
 * A day of a user with the native program's own threads, in the real TUI. The same against any server; `cwd` is a
 * folder that the user's configuration trusts.
 */
export async function nativeFlows(url: string, name: string, cwd: string): Promise<FlowRecord> {
  await using wire = await tap(url, `native-${name}`);
  const screens: Record<string, string> = {};
  const startFiles = (): void => writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
  const keep = async (tui: Tui, step: string): Promise<void> => {
    screens[step] = await settled(tui);
    await tui.capture(step);
  };

  startFiles();
  {
    await using tui = await Tui.start(wire.url, name, { args: ["-C", cwd], config: QUIET_TUI });
    await tui.ready();
    await tui.submit("use the tools");
    await shown(tui, /Would you like to make the following edits/);
    await keep(tui, "0-edits");
    await tui.press("y");
    await finished(tui, "The classic tools are done");
    await shown(tui, /Named by the model/);
    await tui.submit("ask me");
    await shown(tui, /Would you like to run/);
    await keep(tui, "1-asked");
    await tui.press("y");
    await finished(tui, "It was allowed");
    await tui.submit("try it again");
    await shown(tui, /Would you like to run/);
    await tui.press("Escape");
    await tui.waitFor(/You canceled the request[^]*Conversation interrupted/);
    await gone(tui, /esc to interrupt/);
    await tui.submit("go on for long");
    await until("the long command", () => wire.frames.find(({ dir, msg }) => dir === "s2c" && msg["method"] === "item/started" && JSON.stringify(msg).includes("-e steered")));
    await tui.submit("and hurry");
    await until("the answer to the steer", () => {
      const steer = wire.frames.find(({ msg }) => msg["method"] === "turn/steer");
      return steer && wire.frames.find(({ connection, dir, msg }) => dir === "s2c" && connection === steer.connection && msg["id"] === steer.msg["id"]);
    });
    writeFileSync(join(cwd, "steered"), "");
    await finished(tui, "I have hurried");
    await tui.submit("never end");
    await tui.waitFor("and is never");
    await tui.press("Escape");
    await tui.waitFor(/never end[^]*Conversation interrupted/);
    await gone(tui, /esc to interrupt/);
    await slash(tui, "/status", /Session:/);
    await keep(tui, "2-first-day");
    await tui.quit();
  }
  startFiles();
  {
    await using tui = await Tui.start(wire.url, name, { args: ["-C", cwd, "-m", "gpt-5.6-sol"], config: QUIET_TUI });
    await tui.ready();
    await tui.submit("use a program");
    await shown(tui, /Would you like to make the following edits/);
    await tui.press("y");
    await finished(tui, "The program is done");
    await shown(tui, /Named by the model/);
    await slash(tui, "/fork", /Fork created/);
    await shown(tui, /Thread forked from/);
    await tui.ready();
    await tui.submit("in the fork");
    await finished(tui, "This is the fork");
    await keep(tui, "3-fork");
    await slash(tui, "/archive", /Archive this session\?/);
    await tui.press("Down");
    await shown(tui, /› 2\. Yes, archive/);
    await tui.press("Enter");
    await shown(tui, /Agent command center[^]*The program is done/);
    await keep(tui, "4-archived");
  }
  {
    await using tui = await Tui.start(wire.url, name, { args: ["resume", "-C", cwd], config: QUIET_TUI });
    await shown(tui, /Named by the model[^]*Named by the model/);
    await keep(tui, "5-picker");
    await tui.press("Enter");
    await tui.waitFor("The program is done.");
    await tui.ready();
    await tui.submit("after the resume");
    await finished(tui, "It goes on");
    await keep(tui, "6-resumed");
    await tui.quit();
  }
  return { frames: wire.frames, screens };
}
