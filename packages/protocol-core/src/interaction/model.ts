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
  options: readonly { label: string; value: string }[];
  multiple: boolean;
  freeText: boolean;
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

export interface InteractionEvent {
  channel: string;
  chatId: string;
  senderId: string;
  interactionId: string;
  actionId: string;
  actionValue: string;
  /** Unix milliseconds. */
  timestamp: number;
  metadata: Readonly<Record<string, string>>;
}

export interface ChannelCapabilities {
  interactiveButtons: boolean;
  forms: boolean;
  messageUpdate: boolean;
  markdownCards: boolean;
}

/** How a channel shows an interaction and, later, its end. */
export interface InteractionPlan {
  render: "native" | "text";
  /** Where the old message cannot be changed, its end is told in a new one. */
  settle: "update" | "newMessage";
}

/** Native only where every part can be shown natively: buttons, and forms if there are fields. */
export function planInteraction(payload: InteractionPayload, capabilities: ChannelCapabilities): InteractionPlan {
  const native = capabilities.interactiveButtons && (payload.fields.length === 0 || capabilities.forms);
  return { render: native ? "native" : "text", settle: capabilities.messageUpdate ? "update" : "newMessage" };
}
