import { z } from "zod";
import { ErrorCode, invalidRequest, WireError } from "@foldcast/protocol-core/wire";
import {
  pageParams, ThreadSectionCreateParams, ThreadSectionDeleteParams, ThreadSectionMoveParams, ThreadSectionUpdateParams,
} from "@foldcast/protocol-core/wire/params";
import type { Host } from "../host.ts";
import type { NativeSession } from "../native/session.ts";
import { RawJson } from "../rpc/raw-json.ts";
import { Reply } from "../rpc/reply.ts";
import type { Section, ThreadRecord } from "../store/store.ts";
import { uuidv7 } from "../threads/uuid7.ts";
import { nativeOf, nativePage } from "./behind.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";
import { changeRecord } from "./thread-change.ts";
import { parseThreadId } from "./thread-id.ts";
import { demandKept, storedThread } from "./thread-lookup.ts";

const DEFAULT_LIMIT = 25;

type GivenAppearance = { icon?: string | null | undefined; color?: string | null | undefined } | null | undefined;

function appearanceOf(given: GivenAppearance): Section["appearance"] {
  return given == null ? null : { icon: given.icon ?? null, color: given.color ?? null };
}

/** The one section that is always there, first, under an id that clients know (Codex 0.171). */
const PINNED: Section = { id: "01984de2-8f74-7c91-a3b2-5c5e937cf318", name: "Pinned", appearance: null };

const allSections = (host: Host): Section[] => [PINNED, ...host.store.sections()];

const notFound = (id: string): Error => new WireError(ErrorCode.invalidParams, `thread section not found: ${id}`);

/** A section that may be changed, which is done as `change` says. */
function ownSection(host: Host, id: string, change: string): Section {
  if (id === PINNED.id) throw new WireError(ErrorCode.invalidParams, `the built-in pinned section cannot be ${change}`);
  const section = host.store.sections().find((each) => each.id === id);
  if (section === undefined) throw notFound(id);
  return section;
}

/** Where the real server is behind us, sections are its own, and ours stand in them. */
async function nativeSection(native: NativeSession, id: string): Promise<Section> {
  for (let cursor: string | null = null; ;) {
    const page = await nativePage(native, "threadSection/list", {}, cursor, MOST_SECTIONS);
    const found = page.data.map((each) => NativeSectionEntry.parse(JSON.parse(each.toString("utf8")))).find((each) => each.id === id);
    if (found !== undefined) return { id, name: found.name, appearance: appearanceOf(found.appearance) };
    if (page.nextCursor === null || page.nextCursor === cursor) throw notFound(id);
    cursor = page.nextCursor;
  }
}
const MOST_SECTIONS = 100;
const NativeSectionEntry = z.looseObject({
  id: z.string(), name: z.string(), appearance: z.looseObject({ icon: z.string().nullish(), color: z.string().nullish() }).nullish(),
});

function demandName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "") throw invalidRequest("thread section name must not be empty");
  return trimmed;
}

/** The threads of a section, top first. */
function membersOf(host: Host, sectionId: string): ThreadRecord[] {
  return [...host.store.threads()].filter((record) => record.section?.id === sectionId).sort((a, b) => a.section!.position - b.section!.position);
}

/** Writes a thread's place down wherever the thread is. */
function place(host: Host, record: Readonly<ThreadRecord>, section: ThreadRecord["section"]): void {
  changeRecord({ record, actor: host.threads.loaded(record.id) }, { section }, host);
}

/** Groups that a person makes of threads, as Codex 0.171 keeps them for all clients together. */
export const sectionMethods: readonly Method[] = [
  method("threadSection/list", {
    owner: "host",
    params: pageParams("ThreadSectionListParams"),
    handler({ cursor, limit }, { host }) {
      const sections = allSections(host);
      const at = cursor == null ? -1 : sections.findIndex(({ id }) => id === cursor);
      // Measured: behind a section that is not there is nothing.
      const from = cursor != null && at === -1 ? sections.length : at + 1;
      const data = sections.slice(from, from + Math.max(limit ?? DEFAULT_LIMIT, 1));
      return { data, nextCursor: from + data.length < sections.length ? (data.at(-1)?.id ?? null) : null };
    },
  }),
  method("threadSection/create", {
    owner: "host",
    params: ThreadSectionCreateParams,
    handler({ name, appearance }, { host }) {
      const section = { id: uuidv7(host.now()), name: demandName(name), appearance: appearanceOf(appearance) };
      host.store.saveSection(section);
      return { section };
    },
  }),
  method("threadSection/update", {
    owner: "host",
    params: ThreadSectionUpdateParams,
    async handler(params, context) {
      const { sectionId, name, appearance } = params;
      const { host } = context;
      const rename = (section: Section): void => {
        for (const record of membersOf(host, sectionId)) place(host, record, { ...record.section!, ...section });
      };
      const native = nativeOf(context);
      if (native !== null) {
        const result = await native.ask("threadSection/update", params);
        if (membersOf(host, sectionId).length > 0) rename(await nativeSection(native, sectionId));
        return new RawJson(result);
      }
      const old = ownSection(host, sectionId, "renamed");
      const section = { id: old.id, name: demandName(name), appearance: appearance === undefined ? old.appearance : appearanceOf(appearance) };
      host.store.transaction(() => {
        host.store.saveSection(section);
        rename(section);
      });
      return { section };
    },
  }),
  method("threadSection/delete", {
    owner: "host",
    params: ThreadSectionDeleteParams,
    async handler(params, context) {
      const { sectionId } = params;
      const { host } = context;
      const native = nativeOf(context);
      const result = native === null ? {} : new RawJson(await native.ask("threadSection/delete", params));
      if (native === null) ownSection(host, sectionId, "deleted");
      const members = membersOf(host, sectionId);
      host.store.transaction(() => {
        for (const record of members) place(host, record, null);
        if (native === null) host.store.deleteSection(sectionId);
      });
      return new Reply(result, () => {
        for (const { id } of members) host.broadcast("thread/section/changed", { threadId: id, sectionId: null });
      });
    },
  }),
  method("thread/section/move", {
    owner: "thread",
    params: ThreadSectionMoveParams,
    async handler(params, context) {
      const { threadId, sectionId, beforeThreadId } = params;
      const { host } = context;
      const native = nativeOf(context);
      if (native !== null && !host.owns(threadId)) {
        // Among its own threads ours have no place: what stood before one of them stands last.
        const before = beforeThreadId != null && host.owns(beforeThreadId) ? null : beforeThreadId;
        return new RawJson(await native.ask("thread/section/move", { ...params, beforeThreadId: before }));
      }
      const before = beforeThreadId == null ? null : parseThreadId(beforeThreadId, "before thread id");
      const id = parseThreadId(threadId);
      demandKept(host, id, "section moves");
      if ((await host.threads.find(id)) === null) throw invalidRequest(`thread not found: ${id}`);
      const known = await storedThread(host, id);
      const { record } = known;
      if (sectionId === null) {
        changeRecord(known, { section: null }, host);
      } else {
        if (before === record.id) throw invalidRequest(`thread ${record.id} cannot be moved before itself`);
        const section = native === null ? allSections(host).find((each) => each.id === sectionId) : await nativeSection(native, sectionId);
        if (section === undefined) throw invalidRequest(`section ${sectionId} does not exist`);
        const others = membersOf(host, sectionId).filter((other) => other.id !== record.id);
        const found = before === null ? others.length : others.findIndex((other) => other.id === before);
        if (found === -1 && native === null) throw invalidRequest(`before thread ${before ?? ""} is not in section ${sectionId}`);
        // Before one of the real server's: they all stand before ours.
        const at = Math.max(found, 0);
        const enteredAt = record.section?.id === sectionId ? record.section.enteredAt : host.now();
        host.store.transaction(() => {
          changeRecord(known, { section: { ...section, position: at, enteredAt } }, host);
          others.forEach((other, index) => place(host, other, { ...other.section!, position: index < at ? index : index + 1 }));
        });
      }
      return new Reply({}, () => host.broadcast("thread/section/changed", { threadId: record.id, sectionId }));
    },
  }),
];
