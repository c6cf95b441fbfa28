/** Channel-neutral interactions: what is asked, and what came back. No channel's words or ids in here. */
export type InteractionKind = "quickReply" | "approval" | "formSubmit" | "command";
export type ActionStyle = "default" | "primary" | "danger";
export type Locale = "zh" | "en";

export interface InteractionAction {
  id: string;
  label: string;
  /** What comes back when it is chosen; for approvals `approve`, `deny` or `always`. */
  value: string;
  style: ActionStyle;
}

/** A free-text or choice field of a form; each is answered by itself. */
export interface InteractionField {
  id: string;
  label: string;
  description: string | null;
  type: "text" | "number" | "integer" | "boolean";
  options: readonly { label: string; value: string }[];
  multiple: boolean;
  freeText: boolean;
  /** False = may be left open when the form is submitted. */
  required: boolean;
  /** Taken where the form is submitted without an answer to it. */
  default: readonly string[] | null;
}

export interface InteractionPayload {
  interactionId: string;
  kind: InteractionKind;
  title: string | null;
  body: string;
  actions: readonly InteractionAction[];
  fields: readonly InteractionField[];
  /** Unix milliseconds; null = never. */
  expiresAt: number | null;
}

/** A person in a place to talk, in the words of a channel. */
export interface Sender {
  channel: string;
  chatId: string;
  senderId: string;
}

/**
 * What came back from a person, whichever way: a button or a typed line. `actionId` is the action's id; for a field of
 * a form it is the field's, and `actionValue` the answer to it. `metadata.text` = words for the agent with a refusal.
 */
export interface InteractionEvent extends Sender {
  interactionId: string;
  actionId: string;
  actionValue: string;
  /** Unix milliseconds. */
  timestamp: number;
  metadata: Readonly<Record<string, string>>;
}

/** From where an input came. Without a sender it is the operator's; with `interactionId` it was chosen, not typed. */
export interface InputOrigin {
  sender: Sender | null;
  interactionId: string | null;
}

/**
 * What became of an event. `late`: it has been settled already, by whoever was faster. `expired`: its time is over, or
 * the server it was asked by has ended. `refused`: this person may not answer it. `invalid`: the value fits nothing.
 */
export interface InteractionAnswerResult {
  status: "accepted" | "late" | "unknown" | "expired" | "refused" | "invalid";
  /** In words, for whoever answered. */
  message: string;
  /** With `accepted`: questions of the form that still wait. Empty = it is settled. */
  open: readonly string[];
  /** With `accepted` of a command: what the channel now runs. */
  command: string | null;
}
