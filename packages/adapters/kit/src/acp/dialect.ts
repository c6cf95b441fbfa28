import type { HarnessEvent, ItemOutcome, ItemResult, TurnOutcome, UsageReport } from "@foldcast/protocol-core/harness";
import type { JsonRecord } from "../json.ts";
import type { AcpAsk } from "./permissions.ts";

/** What is known of a tool call, all updates merged: later members replace earlier ones. */
export interface CallView {
  readonly id: string;
  readonly title: string | null;
  readonly firstTitle: string | null;
  readonly name: string | null;
  readonly kind: string | null;
  readonly status: string | null;
  readonly rawInput: unknown;
  readonly rawOutput: unknown;
  readonly content: unknown;
  readonly meta: JsonRecord;
  /** Merged `_meta`, `locations` and whatever else the agent sent. */
  readonly all: JsonRecord;
}

/** Where an agent deviates from what most do. Everything is optional; all functions are pure. */
export interface AcpDialect {
  /** The agent's own name of the tool; null = not known (yet). Default: `name`, else the kind. */
  toolName?(call: CallView): string | null;
  /** The tool's whole input; undefined = not known (yet). Default: a `rawInput` with members. */
  toolInput?(call: CallView): unknown;
  /** A call's own id in the agent's files, where ACP wraps it. */
  callId?(acpId: string): string;
  /** The arguments are streamed as content while the call is in progress: that is no output, and the call is shown when they are whole. */
  streamsInput?: boolean;
  /** Corrects how a call ended and what it gave back. */
  result?(call: CallView, given: { outcome: ItemOutcome; result: ItemResult }): { outcome: ItemOutcome; result: ItemResult };
  /** A call is always announced before something is asked about it: what is asked about others (of sub-agents) is no item of the turn. */
  callsComeFirst?: boolean;
  /** The agent's mode for a permission mode of the host's words; null = none of them. Default: the mode of that name. */
  modeOf?(permissionMode: string): string | null;
  /** A chunk of text that is the program's own notice and no part of the answer; it is dropped. */
  isNotice?(text: string): boolean;
  /** Kinds of `session/update` of this agent that say nothing to show. */
  silentUpdates?: ReadonlySet<string>;
  /** Events of a notification of the agent's own; it is told within the turn that runs. Default: none. */
  notification?(method: string, params: JsonRecord, at: number): HarnessEvent[];
  /** A permission request that says more than the protocol's members do. Default, and for null: by its options. */
  permission?(id: string, params: JsonRecord, itemId: string | null): AcpAsk | null;
  /** Corrects how a prompt ended. `said`: the beginning of the answer's last text, where some agents put their failures. */
  outcome?(answer: JsonRecord, said: string, given: TurnOutcome): TurnOutcome;
  /** Tokens of a prompt, where the agent does not say them as the protocol does (summed over the session, in `_meta`). */
  usage?(answer: JsonRecord, contextWindow: number | null): UsageReport | null;
}
