import type { CardDocument, FeishuEvent } from "./events.ts";
import type { Outcome } from "./outcome.ts";

export type * from "./events.ts";
export type * from "./outcome.ts";

/**
 * All that the channel needs of Feishu. No method throws for anything that Feishu or the network does; each says what
 * became of the request (`Outcome`). Nothing is retried by the port but one renewal of a stale token.
 *
 * Every call waits for its place in the limits of the platform (see `pace`) and is given up after `requestTimeoutMs`
 * of the configuration (uncertain, `timeout`). An aborted wait is a refusal of kind `unreachable`: nothing was sent.
 */
export interface FeishuPort {
  readonly appId: string;

  /**
   * Opens the long connection and keeps it open until `close`. The listener is called in the order of arrival, the next
   * call does not wait for the promise of the one before. A message or notice is acknowledged when that promise settles:
   * do no more in it than to note the event durably. If it rejects, Feishu sends the event again (after 15 s, 5 min,
   * 1 h, 6 h). Events may come twice or late even so. Only a missing SDK or a wrong configuration rejects.
   */
  start(listener: FeishuListener): Promise<void>;
  /** Closes the connection, ends waiting calls; requests already sent are still answered. */
  close(): Promise<void>;
  connection(): ConnectionState;
  /** Told of each change of `connection()`; returns the way to stop being told. */
  onConnection(listener: (state: ConnectionState) => void): () => void;

  /**
   * Waits until a call of this API may be sent within the limits (per API 50 a second and 1,000 a minute, 5 a second
   * to one chat, 5 a second for patches of one message, 10 a second for one card). With the permit in hand the caller
   * may still render its newest state, then hand the permit to the call. Calls without a permit wait by themselves.
   * `live` waits behind `normal` behind `final`, and leaves the last quarter of the minute's limit to the others.
   */
  pace(api: ApiName, target: PaceTarget, options?: PaceOptions): Promise<Permit>;

  /**
   * A card entity (POST cardkit/v1/cards): lives 14 days, may be sent in one message, at most 30 KB and 200 elements.
   * Not idempotent: after an uncertain answer make another, the first is lost harmlessly as long as it was never sent.
   */
  createCard(card: CardDocument, options?: CallOptions): Promise<Outcome<{ readonly cardId: string }>>;
  /**
   * The whole card (PUT cards/:id), streaming or not; ends streaming unless the card itself says `streaming_mode: true`.
   * `sequence` must be greater than any sent before for this card, by whatever call; gaps are fine, starts at 1.
   * Repeating the same card with a higher sequence is harmless.
   */
  updateCard(write: CardWrite & { readonly card: CardDocument }, options?: CallOptions): Promise<Outcome<null>>;
  /** Several changes at once with one sequence (POST cards/:id/batch_update). Repeated after an uncertain answer, adds may be refused (`outOfSync`): then update the whole card. */
  batchUpdate(write: CardWrite & { readonly actions: readonly CardBatchAction[] }, options?: CallOptions): Promise<Outcome<null>>;
  /**
   * The full text (1 to 100,000 characters) of one markdown or plain_text element, only while the card streams
   * (PUT cards/:id/elements/:eid/content). Shown letter by letter when the old text is a beginning of the new one.
   */
  updateElementContent(write: CardWrite & { readonly elementId: string; readonly content: string }, options?: CallOptions): Promise<Outcome<null>>;
  /** Opens or closes streaming and sets the preview line of the chat list (PATCH cards/:id/settings). Streaming closes by itself ten minutes after it was last opened. */
  setCardSettings(write: CardWrite & { readonly streaming?: boolean; readonly summary?: string }, options?: CallOptions): Promise<Outcome<null>>;

  /**
   * A new message in a chat, or to a person's direct chat. The same `uuid` (at most 50 characters) within one hour gives
   * the first message again instead of a second. Delivered only when the outcome is ok: then it holds Feishu's id.
   */
  sendMessage(message: NewMessage, options?: CallOptions): Promise<Outcome<SentMessage>>;
  /** An answer to a message, in its topic with `inThread` (refused as `noThread` where topics are not possible). `uuid` as in `sendMessage`. */
  replyMessage(message: NewReply, options?: CallOptions): Promise<Outcome<SentMessage>>;
  /** Replaces the card of a message by the message's id (PATCH im/v1/messages/:id): for cards that were sent as JSON, not as entity; up to 14 days, silent. Idempotent. */
  patchMessageCard(messageId: string, card: CardDocument, options?: CallOptions): Promise<Outcome<null>>;
  /** Takes a message of ours back. Idempotent: taken back before counts as `gone`. */
  recallMessage(messageId: string, options?: CallOptions): Promise<Outcome<null>>;
  /** One message as it stands; a recalled one has `deleted: true`. Cards come as the card JSON that the reader has. */
  getMessage(messageId: string, options?: CallOptions): Promise<Outcome<MessageRecord>>;
  /**
   * The messages of a chat or topic, a page (at most 50) at a time: for looking up what was really sent. Of a topic the
   * chat's own list has the first message only. In groups it needs the scope `im:message.group_msg`.
   */
  listMessages(query: MessageQuery, options?: CallOptions): Promise<Outcome<MessagePage>>;

  /** A file for a `file` message: at most 30 MB, not empty. Not idempotent, but a lost key is harmless. */
  uploadFile(file: { readonly name: string; readonly bytes: Uint8Array }, options?: CallOptions): Promise<Outcome<{ readonly fileKey: string }>>;
  /** An image for a card or an `image` message: at most 10 MB, not empty. */
  uploadImage(bytes: Uint8Array, options?: CallOptions): Promise<Outcome<{ readonly imageKey: string }>>;
  /** A file or image that somebody sent (at most 100 MB; not from cards or merged forwards). Larger than `maxBytes` is refused as `tooLarge`. */
  downloadResource(resource: SentResource, options?: CallOptions): Promise<Outcome<DownloadedResource>>;

  chatInfo(chatId: string, options?: CallOptions): Promise<Outcome<ChatInfo>>;
  /** The people of a chat (never the bots), all pages up to `limit` (default 500). */
  chatMembers(chatId: string, options?: CallOptions & { readonly limit?: number }): Promise<Outcome<readonly ChatMember[]>>;
  /** A private group with these people and the bot. */
  createChat(chat: { readonly name: string; readonly openIds: readonly string[] }, options?: CallOptions): Promise<Outcome<{ readonly chatId: string }>>;
  /** Dissolves a group that the bot made. */
  deleteChat(chatId: string, options?: CallOptions): Promise<Outcome<null>>;
  /** A person's name, and the locale where the server tells one (the public API does not: then null). Needs `contact:user.base:readonly`. */
  userInfo(openId: string, options?: CallOptions): Promise<Outcome<UserInfo>>;
  /** The bot itself: `openId` is what mentions of it carry. */
  botInfo(options?: CallOptions): Promise<Outcome<BotInfo>>;
  /** The permissions of the app that count, by name (GET application/v6/scopes). */
  grantedScopes(options?: CallOptions): Promise<Outcome<readonly string[]>>;
  /** What the console says of events and callbacks. Needs `application:application:self_manage`, else `forbidden`. */
  subscriptions(options?: CallOptions): Promise<Outcome<Subscriptions>>;
}

export type FeishuListener = (event: FeishuEvent) => void | Promise<void>;

export interface ConnectionState {
  /**
   * `waiting`: the last try failed or the socket was lost, the next comes at `nextTryAtMs`. `closed`: never started, or
   * closed by us. No state is final but `closed`: the port goes on trying, whatever Feishu answered.
   */
  readonly state: "closed" | "connecting" | "connected" | "waiting";
  /** Why it is not connected, without secrets; null while connected. */
  readonly reason: string | null;
  readonly connectedSinceMs: number | null;
  readonly nextTryAtMs: number | null;
  /** How often a connection was established so far. */
  readonly connections: number;
}

export type ApiName =
  | "card.create"
  | "card.update"
  | "card.batchUpdate"
  | "card.content"
  | "card.settings"
  | "message.create"
  | "message.reply"
  | "message.patch"
  | "message.recall"
  | "message.get"
  | "message.list"
  | "file.upload"
  | "image.upload"
  | "resource.download"
  | "chat.get"
  | "chat.members"
  | "chat.create"
  | "chat.delete"
  | "user.get"
  | "bot.get"
  | "scope.list"
  | "app.get";

export interface PaceTarget {
  readonly cardId?: string;
  readonly chatId?: string;
  readonly messageId?: string;
}

export interface PaceOptions {
  readonly priority?: Priority;
  readonly signal?: AbortSignal;
}

/** `live`: text that the next write replaces. `normal`: the default. `final`: must be delivered. */
export type Priority = "live" | "normal" | "final";

/** A place in the limits, good for one call of that API at once. One that is not used is only a place lost. */
export interface Permit {
  readonly api: ApiName;
  readonly grantedAtMs: number;
}

export interface CallOptions extends PaceOptions {
  readonly permit?: Permit;
  /**
   * The chat that a reply or patch goes to: where it is known it counts in that chat's limit. `sendMessage` knows it
   * by itself.
   */
  readonly chatId?: string;
}

export interface CardWrite {
  readonly cardId: string;
  /** 1 to 2147483647, greater than every one used before for this card, also by calls that failed or were uncertain. */
  readonly sequence: number;
  /** 1 to 64 characters; a second use is refused as `alreadyApplied`. */
  readonly uuid?: string;
}

/** The five actions of `batch_update`. Element ids: `^[A-Za-z][A-Za-z0-9_]{0,19}$`, unique in the card. */
export type CardBatchAction =
  | { readonly action: "partial_update_setting"; readonly params: { readonly settings: object } }
  | {
      readonly action: "add_elements";
      readonly params: { readonly type: "insert_before" | "insert_after" | "append"; readonly target_element_id?: string; readonly elements: readonly object[] };
    }
  | { readonly action: "delete_elements"; readonly params: { readonly element_ids: readonly string[] } }
  | { readonly action: "partial_update_element"; readonly params: { readonly element_id: string; readonly partial_element: object } }
  | { readonly action: "update_element"; readonly params: { readonly element_id: string; readonly element: object } };

export type Recipient = { readonly chatId: string } | { readonly openId: string };

/** What a message holds. `cardEntity` sends a card made by `createCard` (once); `card` sends JSON, later changed by `patchMessageCard`. */
export type MessageBody =
  | { readonly type: "cardEntity"; readonly cardId: string }
  | { readonly type: "card"; readonly card: CardDocument }
  /** Plain text, at most 150 KB; `<at user_id="…">` in it is live, so escape what people and models wrote. */
  | { readonly type: "text"; readonly text: string }
  /** Rich text of one locale, at most 30 KB; paragraphs of tagged pieces (`text`, `a`, `at`, `md`, `code_block` …). */
  | { readonly type: "post"; readonly title: string; readonly paragraphs: readonly (readonly object[])[] }
  | { readonly type: "image"; readonly imageKey: string }
  | { readonly type: "file"; readonly fileKey: string };

export interface NewMessage {
  readonly to: Recipient;
  readonly body: MessageBody;
  readonly uuid?: string;
}

export interface NewReply {
  /** The message that is answered. */
  readonly messageId: string;
  readonly body: MessageBody;
  readonly inThread?: boolean;
  readonly uuid?: string;
}

/** A file or image of a message that somebody sent, by the key in its content. */
export interface SentResource {
  readonly messageId: string;
  readonly key: string;
  readonly kind: "image" | "file";
  readonly maxBytes: number;
}

export interface SentMessage {
  readonly messageId: string;
  readonly chatId: string;
  readonly threadId: string | null;
  readonly createTimeMs: number;
}

export interface MessageRecord {
  readonly messageId: string;
  readonly chatId: string;
  readonly rootId: string | null;
  readonly parentId: string | null;
  readonly threadId: string | null;
  readonly messageType: string;
  readonly createTimeMs: number;
  readonly deleted: boolean;
  /** `app`: sent by a bot, `senderId` is its app id; `user`: its open id. */
  readonly senderKind: "user" | "app" | "unknown";
  readonly senderId: string | null;
  /** The raw content string; a card's own JSON for cards where the server gives it. */
  readonly content: string;
}

export interface MessageQuery {
  readonly in: { readonly chatId: string } | { readonly threadId: string };
  /** Whole seconds on the wire, so the bounds are widened to them. Not possible with a topic. */
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly order: "oldestFirst" | "newestFirst";
  readonly pageToken?: string;
}

export interface MessagePage {
  readonly messages: readonly MessageRecord[];
  readonly nextPageToken: string | null;
}

export interface DownloadedResource {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  /** From the answer's `content-disposition`. */
  readonly fileName: string | null;
}

export interface ChatInfo {
  readonly chatId: string;
  readonly name: string;
  /** `topic`: every message starts a topic. */
  readonly mode: "group" | "topic" | "p2p" | "unknown";
  /** A group whose messages have the form of topics (`group_message_type: thread`). */
  readonly threadForm: boolean;
  readonly ownerOpenId: string | null;
  readonly userCount: number | null;
}

export interface ChatMember {
  readonly openId: string;
  readonly name: string;
}

export interface UserInfo {
  readonly openId: string;
  readonly name: string | null;
  readonly locale: string | null;
}

/** How events and callbacks reach the app, `websocket` for the long connection, and which; null where the server does not say. */
export interface Subscriptions {
  readonly events: { readonly by: string; readonly names: readonly string[] } | null;
  readonly callbacks: { readonly by: string; readonly names: readonly string[] } | null;
}

export interface BotInfo {
  readonly openId: string;
  readonly name: string;
}
