import type { InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import type { FormAnswers, InteractionPayload } from "@foldcast/protocol-core/interaction";
import type { ServerRequest } from "@foldcast/protocol-core/wire";
import { Frame } from "../rpc/frame.ts";
import type { Settlement } from "../store/interactions.ts";
import type { InteractionHome, Screen, WaitingFlag } from "./policy.ts";

/** One open interaction, and the frames in which clients have it. */
export class Pending {
  readonly id: string;
  readonly request: InteractionRequest;
  readonly home: InteractionHome;
  readonly wire: ServerRequest;
  readonly payload: InteractionPayload;
  readonly flag: WaitingFlag;
  /** Answers to some of its questions, from whoever gave them. */
  answers: FormAnswers = {};
  /** Who has it on the screen. */
  readonly shownTo = new WeakSet<Screen>();
  /** Who sent an answer that chooses nothing. */
  readonly abstained = new WeakSet<Screen>();
  stopTimer: () => void = () => undefined;
  #plain: Frame | null = null;
  #extended: Frame | null = null;

  constructor(request: InteractionRequest, home: InteractionHome, wire: ServerRequest, payload: InteractionPayload) {
    this.id = payload.interactionId;
    this.request = request;
    this.home = home;
    this.wire = wire;
    this.payload = payload;
    this.flag = wire.method === "item/tool/requestUserInput" ? "waitingOnUserInput" : "waitingOnApproval";
  }

  /** The request for this client. Clients that asked for it get the channel-neutral form beside Codex's own. */
  frameFor(screen: Screen): Frame {
    this.shownTo.add(screen);
    const { method, params } = this.wire;
    if (screen.session?.interaction === true) return (this.#extended ??= new Frame(JSON.stringify({ id: this.id, method, params: { ...params, foldcast: { interaction: this.payload } } })));
    return (this.#plain ??= new Frame(JSON.stringify({ id: this.id, method, params })));
  }
}

/** Who answered: a client's name, and for a channel the person behind it. Null = nobody did. */
export interface Answerer {
  client: string;
  sender: string | null;
}

/** Params of `foldcast/interaction/resolved`, for clients that asked to know. */
export interface InteractionResolved {
  threadId: string;
  turnId: string;
  requestId: string;
  how: Settlement;
  by: Answerer | null;
  /** What the harness was told; null where it had let go already. */
  answer: InteractionAnswer | null;
}
