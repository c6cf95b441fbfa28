import type { MutableJson } from "../cards/card-tree.ts";
import { CALLBACKS, EVENTS, NEEDED_SCOPES, USEFUL_SCOPES } from "../../platform/console.ts";
import type { VirtualClock } from "../clock.ts";

export interface Person {
  readonly openId: string;
  readonly userId: string;
  readonly unionId: string;
  readonly name: string;
}

export interface App {
  readonly appId: string;
  readonly appSecret: string;
  readonly botOpenId: string;
  readonly botName: string;
}

export interface Chat {
  readonly chatId: string;
  readonly mode: "p2p" | "group" | "topic";
  name: string;
  readonly threadForm: boolean;
  /** Whether replies may stand in a topic of their own. */
  readonly threads: boolean;
  ownerOpenId: string | null;
  readonly people: Set<string>;
  /** App ids of the bots in it. */
  readonly bots: Set<string>;
  disbanded: boolean;
  readonly messages: Message[];
}

export interface Message {
  readonly messageId: string;
  readonly chatId: string;
  readonly rootId: string | null;
  readonly parentId: string | null;
  threadId: string | null;
  readonly msgType: string;
  content: string;
  readonly createTimeMs: number;
  updateTimeMs: number;
  updated: boolean;
  /** `recalled` by its sender, `deleted` by somebody else. */
  gone: "recalled" | "deleted" | null;
  readonly sender: { readonly kind: "user" | "app"; readonly id: string };
  /** The entity that it shows, or the card that was sent as JSON. */
  readonly cardId: string | null;
  card: MutableJson | null;
  openClicks: number;
  readonly mentions: readonly MentionEntry[];
}

export interface MentionEntry {
  readonly key: string;
  readonly openId: string;
  readonly name: string;
}

/** What must be said of a new message; it gets an id and the present time where it has none. */
export type NewMessage = Pick<Message, "rootId" | "parentId" | "threadId" | "msgType" | "content" | "sender" | "cardId" | "card" | "mentions"> &
  Partial<Pick<Message, "createTimeMs" | "messageId">>;

export interface NewChat {
  readonly mode: Chat["mode"];
  readonly name: string;
  readonly people: readonly string[];
  /** App ids. */
  readonly bots: readonly string[];
  readonly threadForm?: boolean | undefined;
  readonly threads?: boolean | undefined;
  readonly owner?: string | undefined;
  readonly chatId?: string | undefined;
}

/** People, chats and messages as they are kept; the rules stand in `message-service.ts`. */
export class ChatStore {
  readonly people = new Map<string, Person>();
  readonly apps = new Map<string, App>();
  readonly chats = new Map<string, Chat>();
  readonly messages = new Map<string, Message>();
  /** What the console grants the app, and what it is subscribed to; all of it, until a test takes something away. */
  readonly scopes = new Set([...NEEDED_SCOPES, ...USEFUL_SCOPES].map(({ name }) => name));
  readonly events = new Set(EVENTS);
  readonly callbacks = new Set(CALLBACKS);
  readonly clock: VirtualClock;
  #count = 0;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  /** Ids are numbered, so that the same run gives the same ids. */
  newId(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${this.#count.toString(16).padStart(32, "0")}`;
  }

  addPerson(name: string, openId = this.newId("ou")): Person {
    const tail = openId.slice(3);
    const person: Person = { openId, userId: tail.slice(-8), unionId: `on_${tail}`, name };
    this.people.set(openId, person);
    return person;
  }

  addChat(options: NewChat): Chat {
    const { mode, name, people, bots, threadForm = false, threads = mode !== "p2p", owner = null, chatId = this.newId("oc") } = options;
    const chat: Chat = { chatId, mode, name, threadForm, threads, ownerOpenId: owner, people: new Set(people), bots: new Set(bots), disbanded: false, messages: [] };
    this.chats.set(chatId, chat);
    return chat;
  }

  /** The direct chat of a person with a bot; made on first use. */
  directChat(openId: string, appId: string): Chat {
    const found = [...this.chats.values()].find((chat) => chat.mode === "p2p" && chat.people.has(openId) && chat.bots.has(appId));
    return found ?? this.addChat({ mode: "p2p", name: this.people.get(openId)?.name ?? openId, people: [openId], bots: [appId] });
  }

  addMessage(chat: Chat, message: NewMessage): Message {
    const { createTimeMs = this.clock.now(), messageId = this.newId("om") } = message;
    const added: Message = { ...message, messageId, chatId: chat.chatId, createTimeMs, updateTimeMs: createTimeMs, updated: false, gone: null, openClicks: 0 };
    chat.messages.push(added);
    this.messages.set(messageId, added);
    return added;
  }

  nameOf(sender: Message["sender"]): string {
    return sender.kind === "app" ? (this.apps.get(sender.id)?.botName ?? sender.id) : (this.people.get(sender.id)?.name ?? sender.id);
  }
}
