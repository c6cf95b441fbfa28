import type { InteractionAnswer } from "@foldcast/protocol-core/harness";
import { foldTurn, isRenderable } from "@foldcast/protocol-core/folding";
import { renderFallback } from "@foldcast/protocol-core/interaction";
import type { InteractionPayload, Locale } from "@foldcast/protocol-core/interaction";
import { presentTool, toolDetail } from "@foldcast/protocol-core/tools";
import { turnOfView } from "@foldcast/protocol-core/view";
import type { TurnView } from "@foldcast/protocol-core/view";
import type { Notification, PlanStep, Thread, ThreadItem } from "@foldcast/protocol-core/wire";
import type { ChatView } from "./conversation.ts";
import type { OpenRequest } from "./open-request.ts";
import { workedFor } from "./duration.ts";
import type { TextOutput } from "./text-output.ts";

const MARKS: Readonly<Record<PlanStep["status"], string>> = { pending: "☐", inProgress: "◐", completed: "☑" };

/** A conversation as running text; a finished turn folds to its divider and its final answer. */
export class TextView implements ChatView {
  readonly #out: TextOutput;
  readonly #locale: Locale;
  #cwd = "/";
  #plan: readonly PlanStep[] = [];
  #streaming: string | null = null;

  constructor(out: TextOutput, locale: Locale) {
    this.#out = out;
    this.#locale = locale;
  }

  frame(): void {
    // Text shows what the frames did.
  }

  opened(thread: Thread, model: string, turns: readonly TurnView[]): void {
    this.#cwd = thread.cwd;
    this.#out.dim(`${model} · ${thread.cwd} · thread ${thread.id}`);
    const last = turns.at(-1);
    if (last === undefined) return;
    for (const { item } of last.items.values()) if (item.type === "userMessage") this.#showPrompt(item);
    if (last.status !== "inProgress") return this.#showFolded(last);
    this.#beginTurn();
    this.#showAll(last);
    this.#planChanged(last.plan);
  }

  prompt(text: string): void {
    this.#out.line(`› ${text}`);
    this.#beginTurn();
  }

  /** A line that is no prompt; a pipe shows only what came of it. */
  said(line: string): void {
    if (this.#out.interactive) this.#out.line(`› ${line}`);
  }

  heard(item: Extract<ThreadItem, { type: "userMessage" }>, first: boolean): void {
    this.#showPrompt(item);
    if (first) this.#beginTurn();
  }

  offered(offer: InteractionPayload): void {
    this.#out.line(renderFallback(offer, this.#locale));
    this.#out.line("");
  }

  notification(notification: Notification): void {
    switch (notification.method) {
      case "item/agentMessage/delta":
        if (this.#streaming !== notification.params.itemId) this.#out.freshLine();
        this.#streaming = notification.params.itemId;
        return this.#out.write(notification.params.delta);
      case "item/completed":
        return this.#completed(notification.params.item, "foldcast" in notification.params.item ? notification.params.item.foldcast : undefined);
      case "turn/plan/updated":
        return this.#planChanged(notification.params.plan);
      case "error":
        return this.#out.line(`${notification.params.willRetry ? "… " : "✗ "}${notification.params.error.message}`);
      case "serverRequest/resolved":
        return this.#out.freshLine();
      default:
    }
  }

  asked({ payload }: OpenRequest): void {
    this.#out.line("");
    this.#out.line(renderFallback(payload, this.#locale));
    this.#out.line("");
  }

  answered(_request: OpenRequest, answer: InteractionAnswer): void {
    this.#out.dim(`→ ${wordsOf(answer)}`);
  }

  turnEnded(turn: TurnView): void {
    this.#out.freshLine();
    this.#streaming = null;
    if (turn.status === "interrupted") return this.#out.dim("Interrupted.");
    const divider = this.#dividerOf(turn);
    if (divider !== null) {
      const erased = this.#out.eraseToMark();
      this.#out.dim(divider);
      if (erased) this.#showAnswer(turn);
    }
    this.#out.line("");
  }

  notice(text: string): void {
    this.#out.dim(text);
  }

  /** All of a turn, its folded part included. */
  expand(turn: TurnView): void {
    for (const { item } of turn.items.values()) if (item.type === "userMessage") this.#showPrompt(item);
    this.#showAll(turn);
    this.#showPlan(turn.plan);
  }

  #showAll(turn: TurnView): void {
    for (const { item } of turn.items.values()) {
      if (!isRenderable(item) || item.type === "userMessage") continue;
      if (item.type === "agentMessage" || item.type === "plan") this.#out.line(item.text);
      else this.#showProcess(item, "foldcast" in item ? item.foldcast : undefined);
    }
  }

  /** From here on it is the turn's process, which its end folds away. */
  #beginTurn(): void {
    this.#plan = [];
    this.#out.mark();
  }

  /** The whole plan once, then what is different. */
  #planChanged(plan: readonly PlanStep[]): void {
    const same = plan.length === this.#plan.length && plan.every(({ step }, at) => this.#plan[at]?.step === step);
    this.#showPlan(same ? plan.filter(({ status }, at) => this.#plan[at]?.status !== status) : plan);
    this.#plan = plan;
  }

  /** A turn of before, as it stands when it is folded. */
  #showFolded(turn: TurnView): void {
    const divider = this.#dividerOf(turn);
    if (divider === null) this.#showAll(turn);
    else {
      this.#out.dim(divider);
      this.#showAnswer(turn);
    }
    if (turn.status === "interrupted") this.#out.dim("Interrupted.");
    if (turn.error !== null) this.#out.line(`✗ ${turn.error.message}`);
  }

  /** Null for a turn that does not fold. */
  #dividerOf(turn: TurnView): string | null {
    const { folds, divider, foldedItemIds } = foldTurn(turnOfView(turn));
    if (!folds || divider === null) return null;
    const text = divider.kind === "workedFor" ? workedFor(divider.value, this.#locale) : `${divider.value} earlier messages`;
    return `── ${text} · ${foldedItemIds.length} steps${this.#out.interactive ? " (/expand)" : ""} ──`;
  }

  #showAnswer(turn: TurnView): void {
    const answer = turn.items.get(foldTurn(turnOfView(turn)).finalAnswerId ?? "")?.item;
    if (answer?.type === "agentMessage") this.#out.line(answer.text);
  }

  #showPrompt(item: Extract<ThreadItem, { type: "userMessage" }>): void {
    this.#out.line(`› ${item.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ")}`);
  }

  #completed(item: ThreadItem, extra: unknown): void {
    if (item.type === "userMessage") return;
    if (item.type === "agentMessage") {
      // What never streamed is shown whole.
      if (this.#streaming !== item.id) this.#out.line(item.text);
      this.#streaming = null;
      return this.#out.freshLine();
    }
    if (isRenderable(item)) this.#showProcess(item, extra);
  }

  #showProcess(item: ThreadItem, extra: unknown): void {
    if (item.type === "reasoning") return this.#out.dim(item.summary.join("\n").trim());
    if (item.type === "plan") return this.#out.line(item.text);
    const detail = toolDetail(item, extra);
    if (detail !== null) this.#out.line(presentTool(detail, this.#cwd).title(this.#locale));
    else if (item.type === "contextCompaction") this.#out.dim("Context compacted.");
  }

  #showPlan(plan: readonly PlanStep[]): void {
    for (const { step, status } of plan) this.#out.line(`  ${MARKS[status]} ${step}`);
  }
}

function wordsOf(answer: InteractionAnswer): string {
  switch (answer.kind) {
    case "approval":
      return answer.text === undefined ? answer.decision : `${answer.decision}: ${answer.text}`;
    case "question":
      return Object.values(answer.answers).flat().join(", ") || "skipped";
    case "elicitation":
      return [answer.action, ...Object.entries(answer.content ?? {}).map(([name, value]) => `${name}: ${String(value)}`)].join(", ");
  }
}
