import type { CardDocument } from "../platform/port.ts";

/** What a turn's card is built from; a small part of Card JSON 2.0. Elements that are written alone carry an id. */
export interface MarkdownElement {
  readonly tag: "markdown";
  readonly element_id?: string;
  readonly content: string;
  readonly text_size?: "notation" | "normal";
}

export interface PanelElement {
  readonly tag: "collapsible_panel";
  readonly element_id: string;
  readonly expanded: boolean;
  readonly header: {
    readonly title: { readonly tag: "plain_text"; readonly content: string };
    readonly vertical_align: "center";
    readonly icon: { readonly tag: "standard_icon"; readonly token: string; readonly size: string };
    readonly icon_position: "right";
    readonly icon_expanded_angle: -180;
  };
  readonly border: { readonly color: string; readonly corner_radius: string };
  readonly vertical_spacing: string;
  readonly padding: string;
  readonly elements: readonly TurnElement[];
}

export type TurnElement = MarkdownElement | PanelElement;

export type HeaderTemplate = "blue" | "green" | "grey" | "red";

export interface TurnCard extends CardDocument {
  readonly config: {
    readonly update_multi: true;
    readonly streaming_mode: boolean;
    readonly summary: { readonly content: string };
    readonly enable_forward_interaction: false;
  };
  readonly header?: {
    readonly title: { readonly tag: "plain_text"; readonly content: string };
    readonly subtitle?: { readonly tag: "plain_text"; readonly content: string };
    readonly template: HeaderTemplate;
  };
  readonly body: { readonly elements: readonly TurnElement[] };
}

export function markdown(id: string, content: string, size?: "notation"): MarkdownElement {
  return { tag: "markdown", element_id: id, content, ...(size === undefined ? {} : { text_size: size }) };
}

/** A panel that the reader opens and closes; its title is one plain line. */
export function panel(id: string, title: string, expanded: boolean, elements: readonly TurnElement[]): PanelElement {
  return {
    tag: "collapsible_panel",
    element_id: id,
    expanded,
    header: {
      title: { tag: "plain_text", content: title },
      vertical_align: "center",
      icon: { tag: "standard_icon", token: "down-small-ccm_outlined", size: "16px 16px" },
      icon_position: "right",
      icon_expanded_angle: -180,
    },
    border: { color: "grey", corner_radius: "5px" },
    vertical_spacing: "8px",
    padding: "8px 8px 8px 8px",
    elements,
  };
}
