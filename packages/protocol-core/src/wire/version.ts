/** The one Codex release whose app-server protocol foldcast speaks. Moving it is one commit. */
export const PROTOCOL_VERSION = "0.171.0";
