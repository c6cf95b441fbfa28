import { isFor, toNotification } from "@foldcast/protocol-core/delivery";
import type { ItemDetail, ProjectorOutput } from "@foldcast/protocol-core/projection";
import type { Notification, ThreadItem } from "@foldcast/protocol-core/wire";
import type { Connection } from "../rpc/connection.ts";
import { Frame, notificationFrame, writtenApart } from "../rpc/frame.ts";
import { wireJson } from "../rpc/wire-json.ts";
import type { Written } from "../rpc/wire-json.ts";

/** The item with the namespaced member that only clients get which asked for it. */
export function withDetail(item: ThreadItem, detail: ItemDetail | undefined): ThreadItem {
  return detail === undefined ? item : Object.assign({}, item, { foldcast: detail });
}

/** Who watches one thread, and the delivery of its stream to them, each by its policy. */
export class Feed {
  readonly #threadId: string;
  readonly #now: () => number;
  readonly #subscribers = new Set<Connection>();
  readonly #held = new Map<Connection, { frames: Frame[]; bytes: number }>();
  /** When the last watcher left, in Unix milliseconds; null while somebody watches. */
  #emptySince: number | null;
  #deltaHead = { type: "", itemId: "", method: "", text: "" };
  /** The last completed item where it is long: the end of its turn may have it in it once more. */
  #lastItem: Written | undefined;

  constructor(threadId: string, now: () => number) {
    this.#threadId = threadId;
    this.#now = now;
    this.#emptySince = now();
  }

  get emptySince(): number | null {
    return this.#emptySince;
  }

  get subscribers(): ReadonlySet<Connection> {
    return this.#subscribers;
  }

  /** Somebody is about to watch. */
  touch(): void {
    if (this.#emptySince !== null) this.#emptySince = this.#now();
  }

  /** The host removes it when its link ends. */
  add(connection: Connection): void {
    if (!connection.isOpen || this.#subscribers.has(connection)) return;
    this.#subscribers.add(connection);
    this.#emptySince = null;
  }

  /**
   * Adds a late joiner whose answer, with the state as of now, is still on its way: what happens meanwhile waits for
   * `release`, so that it sees every event after its answer and none twice.
   */
  addHeld(connection: Connection): void {
    if (!connection.isOpen || this.#subscribers.has(connection)) return;
    this.add(connection);
    this.#held.set(connection, { frames: [], bytes: 0 });
  }

  release(connection: Connection): void {
    const held = this.#held.get(connection);
    this.#held.delete(connection);
    for (const frame of held?.frames ?? []) connection.send(frame);
  }

  remove(connection: Connection): boolean {
    this.#held.delete(connection);
    const watched = this.#subscribers.delete(connection);
    if (watched && this.#subscribers.size === 0) this.#emptySince = this.#now();
    return watched;
  }

  /** Sends a projected output to all whose policy it is for. It is serialised once, whatever their number. */
  output(output: ProjectorOutput, turnId: string): void {
    if (this.#subscribers.size === 0) return void (this.#lastItem = undefined);
    if (output.type === "message.delta" || output.type === "output.delta") return this.#delta(output, turnId);
    const notification = toNotification(output, this.#threadId, turnId);
    if (notification === null) return;
    const detail = "detail" in output ? output.detail : undefined;
    let plain: Frame | null = null;
    let detailed: Frame | null = null;
    for (const connection of this.#subscribers) {
      const session = connection.session;
      if (session === null || session.optOut.has(notification.method) || !isFor(output, session.policy)) continue;
      if (detail !== undefined && session.detail) this.#send(connection, (detailed ??= this.#frame(addDetail(notification, detail))));
      else this.#send(connection, (plain ??= this.#plainFrame(notification)));
    }
    if (notification.method !== "item/completed") this.#lastItem = undefined;
  }

  /** Sends one notification to all who watch. */
  notify(method: string, params: object): void {
    let frame: Frame | null = null;
    for (const connection of this.#subscribers) {
      if (connection.wants(method)) this.#send(connection, (frame ??= notificationFrame(method, params, this.#now())));
    }
  }

  /** Queues for each watcher the frame that is meant for it; null = none. */
  each(frameFor: (connection: Connection) => Frame | null): void {
    for (const connection of this.#subscribers) {
      const frame = frameFor(connection);
      if (frame !== null) this.#send(connection, frame);
    }
  }

  /** Deltas are most of all traffic: all of a frame but its text is serialised once an item. */
  #delta(output: Extract<ProjectorOutput, { type: "message.delta" | "output.delta" }>, turnId: string): void {
    const { type, itemId, delta } = output;
    if (this.#deltaHead.itemId !== itemId || this.#deltaHead.type !== type) {
      const notification = toNotification({ type, itemId, delta: "" }, this.#threadId, turnId)!;
      const text = JSON.stringify(notification);
      this.#deltaHead = { type, itemId, method: notification.method, text: text.slice(0, text.lastIndexOf('""')) };
    }
    const { method, text } = this.#deltaHead;
    let frame: Frame | null = null;
    for (const connection of this.#subscribers) {
      const session = connection.session;
      if (session === null || session.optOut.has(method) || !isFor(output, session.policy)) continue;
      this.#send(connection, (frame ??= framed(text, wireJson(delta), `},"emittedAtMs":${this.#now()}}`)));
    }
  }

  #send(connection: Connection, frame: Frame): void {
    const held = this.#held.get(connection);
    if (held === undefined) return connection.send(frame);
    held.frames.push(frame);
    held.bytes += frame.length;
    if (held.bytes <= connection.maxWaitingBytes) return;
    this.remove(connection);
    connection.cutOff(held.bytes);
  }

  #plainFrame(notification: Notification): Frame {
    if (notification.method === "item/completed") this.#lastItem = writtenApart(notification.params.item);
    return this.#frame(notification);
  }

  #frame(notification: Notification): Frame {
    return notificationFrame(notification.method, notification.params, this.#now(), this.#lastItem);
  }
}

function framed(before: string, json: string | Buffer[], behind: string): Frame {
  return new Frame(typeof json === "string" ? `${before}${json}${behind}` : [Buffer.from(before), ...json, Buffer.from(behind)]);
}

function addDetail(notification: Notification, detail: ItemDetail): Notification {
  if (notification.method === "item/started") return { ...notification, params: { ...notification.params, item: withDetail(notification.params.item, detail) } };
  if (notification.method === "item/completed") return { ...notification, params: { ...notification.params, item: withDetail(notification.params.item, detail) } };
  return notification;
}
