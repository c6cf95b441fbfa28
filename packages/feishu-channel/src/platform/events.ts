/** What Feishu tells the app over the long connection, each with the raw body for what this shape leaves out. */
export type FeishuEvent =
  | MessageReceivedEvent
  | CardActionEvent
  | MessageRecalledEvent
  | MessageReadEvent
  | BotAddedEvent
  | BotRemovedEvent
  | ChatDisbandedEvent
  | OtherEvent;

interface EventBase {
  /** Feishu's event id. Messages are de-duplicated by `messageId`, card actions by `eventId`. */
  readonly eventId: string;
  /** When it happened, in milliseconds; 0 when the event does not say. */
  readonly createTimeMs: number;
  readonly raw: unknown;
}

/** `openId` is the app's own name for a person and the primary key; the others may be missing without extra scopes. */
export interface PersonIds {
  readonly openId: string | null;
  readonly userId: string | null;
  readonly unionId: string | null;
}

export interface Mention extends PersonIds {
  /** The placeholder in the text, e.g. `@_user_1`; `@_all` for everyone. `@_user_1` is a prefix of `@_user_10`. */
  readonly key: string;
  readonly name: string;
}

export interface MessageReceivedEvent extends EventBase {
  readonly type: "message";
  readonly messageId: string;
  readonly chatId: string;
  /** `p2p` is a direct chat with the bot. */
  readonly chatType: "p2p" | "group";
  readonly sender: PersonIds & { readonly kind: "user" | "app" | "unknown" };
  /** text, post, image, file, audio, media, folder, sticker, interactive, merge_forward, share_chat, … */
  readonly messageType: string;
  /** The message's own content, a JSON string whose shape depends on `messageType`. */
  readonly content: string;
  readonly mentions: readonly Mention[];
  /** First message of the reply chain, and the message answered directly; null when this is no reply. */
  readonly rootId: string | null;
  readonly parentId: string | null;
  /** `omt_…`, only inside topics. */
  readonly threadId: string | null;
}

export interface CardActionEvent extends EventBase {
  readonly type: "cardAction";
  /** Some callbacks lack `openId`: fall back to `userId`. */
  readonly operator: PersonIds;
  readonly messageId: string;
  readonly chatId: string;
  readonly action: CardAction;
  /** Update token `c-…` (30 minutes, two uses). Never log it. */
  readonly token: string | null;
  /**
   * Answers the click; the first answer counts. Feishu waits three seconds and never sends a click again, so the port
   * answers `{}` by itself shortly before. Resolves once the answer has been handed to the connection: writes to the
   * same card before that are lost or undone. `late`: the port had answered already, the reader saw nothing of this one.
   * A card inside an answer is ignored while the card streams.
   */
  respond(answer: CardActionAnswer): Promise<"sent" | "late">;
}

export interface CardAction {
  readonly tag: string;
  readonly name: string | null;
  /** `/action/value`, or `/action/behaviors/0/value` where the client sends that shape; an object, else null. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** Values of a form by the names of its inputs; null when this is no form submit. */
  readonly formValue: Readonly<Record<string, unknown>> | null;
  readonly inputValue: string | null;
  readonly option: string | null;
  readonly options: readonly string[] | null;
  readonly checked: boolean | null;
}

export interface CardActionAnswer {
  readonly toast?: { readonly type: "info" | "success" | "error" | "warning"; readonly content: string };
  /** The whole new card (Card JSON 2.0); a 2.0 card must be answered with a 2.0 card. */
  readonly card?: CardDocument;
}

export interface MessageRecalledEvent extends EventBase {
  readonly type: "messageRecalled";
  readonly messageId: string;
  readonly chatId: string;
}

export interface MessageReadEvent extends EventBase {
  readonly type: "messageRead";
  readonly messageIds: readonly string[];
  readonly reader: PersonIds;
}

export interface BotAddedEvent extends EventBase {
  readonly type: "botAdded";
  readonly chatId: string;
  readonly chatName: string | null;
  readonly operator: PersonIds;
}

export interface BotRemovedEvent extends EventBase {
  readonly type: "botRemoved";
  readonly chatId: string;
}

export interface ChatDisbandedEvent extends EventBase {
  readonly type: "chatDisbanded";
  readonly chatId: string;
}

/** Any event that this port gives no shape to, and events of a known type that lack what they must have. */
export interface OtherEvent extends EventBase {
  readonly type: "other";
  readonly eventType: string;
}

/** A card as Card JSON 2.0. The port looks at nothing but its schema. */
export interface CardDocument {
  readonly schema: "2.0";
}
