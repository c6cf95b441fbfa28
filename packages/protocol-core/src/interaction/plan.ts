import type { InteractionField, InteractionPayload } from "./model.ts";

export interface ChannelCapabilities {
  interactiveButtons: boolean;
  forms: boolean;
  messageUpdate: boolean;
  markdownCards: boolean;
}

/** How a channel shows an interaction and, later, its end. */
export interface InteractionPlan {
  /** `text` = the block of `renderFallback`, and typed answers. */
  render: "native" | "text";
  /** With `native`: every answer is a button of its own (`buttonsOf`), or some need a form. */
  widgets: "buttons" | "form" | "none";
  body: "markdown" | "plain";
  /** Where the old message cannot be changed, its end is told in a new one. */
  settle: "update" | "newMessage";
}

/** One native button; pressed, it comes back as an `InteractionEvent` with these two. */
export interface InteractionButton {
  label: string;
  actionId: string;
  actionValue: string;
  style: "default" | "primary" | "danger";
}

/**
 * Native only where every part can be shown natively: buttons for what is chosen, a form for what is written. What has
 * nothing to press or to fill in is text.
 */
export function planInteraction(payload: InteractionPayload, capabilities: ChannelCapabilities): InteractionPlan {
  const { interactiveButtons, forms, messageUpdate, markdownCards } = capabilities;
  const pressable = payload.fields.every(isPressable);
  const answerable = payload.actions.length > 0 || payload.fields.length > 0;
  const widgets = !answerable || !interactiveButtons ? "none" : pressable ? "buttons" : forms ? "form" : "none";
  return {
    render: widgets === "none" ? "text" : "native",
    widgets,
    body: markdownCards ? "markdown" : "plain",
    settle: messageUpdate ? "update" : "newMessage",
  };
}

/** A button for every answer that needs no writing: the options of each question, then the actions. */
export function buttonsOf({ fields, actions }: InteractionPayload): InteractionButton[] {
  const options = fields.filter(isPressable).flatMap(({ id, options: choices }) => choices.map(({ label, value }): InteractionButton => ({ label, actionId: id, actionValue: value, style: "default" })));
  return [...options, ...actions.map(({ id, label, value, style }): InteractionButton => ({ label, actionId: id, actionValue: value, style }))];
}

/** One press is one answer: a list of choices or a text cannot be given with it. */
function isPressable({ options, multiple, freeText }: InteractionField): boolean {
  return options.length > 0 && !multiple && !freeText;
}
