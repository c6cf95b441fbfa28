/** What one client needs differently. A row of the dialect table; see `policyFor`. */
export interface DeliveryPolicy {
  dialect: "default" | "desktop";
  messages: "held" | "eager";
  edits: "each" | "merged";
}

/** As native Codex does and as the TUI needs: one completion an item, one file change an edit. */
export const DEFAULT_POLICY: DeliveryPolicy = { dialect: "default", messages: "held", edits: "each" };
/** Desktop replaces items by id, so completions are sent at once and again; edits merge into one summary. */
export const DESKTOP_POLICY: DeliveryPolicy = { dialect: "desktop", messages: "eager", edits: "merged" };

/**
 * The policy of a client by what it said in `initialize`. `override` is the server's `--dialect`.
 * Desktop names itself `Codex Desktop` in name and title.
 */
export function policyFor(client: { name: string; title: string | null }, override: "auto" | "default" | "desktop"): DeliveryPolicy {
  if (override === "default") return DEFAULT_POLICY;
  if (override === "desktop") return DESKTOP_POLICY;
  const desktop = /codex desktop/i;
  return desktop.test(client.name) || desktop.test(client.title ?? "") ? DESKTOP_POLICY : DEFAULT_POLICY;
}
