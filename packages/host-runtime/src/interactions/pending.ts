import type { AgentRequest, InteractionAnswer } from "@foldcast/protocol-core/harness";
import type { FormAnswers, InteractionPayload, Sender } from "@foldcast/protocol-core/interaction";
import type { ServerRequest } from "@foldcast/protocol-core/wire";
import { Frame } from "../rpc/frame.ts";
import type { Settlement } from "../store/interactions.ts";
import type { InteractionHome, Screen, WaitingFlag } from "./policy.ts";

const OPENED = "foldcast/interaction/opened";

/** What an agent waits for: its request, and the same as a request of Codex's. */
export interface Asked {
  request: AgentRequest;
  wire: ServerRequest;
}

/** One open interaction, and the frames in which clients have it. */
export class Pending {
  readonly id: string;
  readonly home: InteractionHome;
  readonly payload: InteractionPayload;
  /** Null for what nobody waits for, a quick reply or a command: it only goes to clients that know of interactions. */
  readonly asked: Asked | null;
  /** The harness's own id of it; null for what a channel put up. */
  readonly requestId: string | null;
  readonly flag: WaitingFlag | null;
  /** Answers to some of its questions, from whoever gave them. */
  answers: FormAnswers = {};
  /** Who has it on the screen. */
  readonly shownTo = new WeakSet<Screen>();
  /** Who sent an answer that chooses nothing. */
  readonly abstained = new WeakSet<Screen>();
  stopTimer: () => void = () => undefined;
  #plain: Frame | null = null;
  #extended: Frame | null = null;

  constructor(home: InteractionHome, payload: InteractionPayload, requestId: string | null, asked: Asked | null) {
    this.id = payload.interactionId;
    this.home = home;
    this.payload = payload;
    this.asked = asked;
    this.requestId = requestId;
    this.flag = asked === null ? null : asked.wire.method === "item/tool/requestUserInput" ? "waitingOnUserInput" : "waitingOnApproval";
  }

  /** The frame for this client. One that asked for it gets the channel-neutral form beside Codex's own. Null = none. */
  frameFor(screen: Screen): Frame | null {
    const extended = screen.session?.interaction === true;
    if (this.asked === null && !(extended && screen.wants(OPENED))) return null;
    this.shownTo.add(screen);
    return extended ? (this.#extended ??= this.#frame(true)) : (this.#plain ??= this.#frame(false));
  }

  #frame(extended: boolean): Frame {
    const { threadId, turnId } = this.home;
    if (this.asked === null) return new Frame(JSON.stringify({ method: OPENED, params: { threadId, turnId, interaction: this.payload } }));
    const { method, params } = this.asked.wire;
    return new Frame(JSON.stringify({ id: this.id, method, params: extended ? { ...params, foldcast: { interaction: this.payload } } : params }));
  }
}

/** Who answered: a client, and for a channel the person behind it. */
export interface Answerer {
  client: string;
  /** The channel that this client said it is; null = it is the operator's own. */
  channel: { readonly name: string; readonly approvers: readonly string[] } | null;
  sender: Sender | null;
}

/** Params of `foldcast/interaction/resolved`, for clients that asked to know. */
export interface InteractionResolved {
  threadId: string;
  turnId: string;
  requestId: string;
  how: Settlement;
  /** Null = nobody did. */
  by: { client: string; sender: Sender | null } | null;
  /** What the harness was told, or what was chosen; null where it had let go already. */
  answer: InteractionAnswer | Chosen | null;
}
export type Chosen = { kind: "quickReply"; text: string } | { kind: "command"; command: string };
