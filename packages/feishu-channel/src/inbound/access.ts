/** Who may talk to the bot. Closed by default: what is not named is refused. Ids are open ids and chat ids. */
export interface AccessRules {
  readonly users: readonly string[];
  readonly chats: readonly string[];
  /** Nobody is named: the first person who writes to the bot directly becomes its owner. */
  readonly claim: boolean;
  /** `mention`: in groups only what mentions the bot. `all`: every message of an allowed group. */
  readonly groups: "mention" | "all";
}

export interface Approach {
  readonly openId: string | null;
  readonly chatId: string;
  readonly isDirect: boolean;
  readonly mentionsBot: boolean;
  /** Who claimed the bot; null nobody yet. */
  readonly owner: string | null;
}

/** `ignored`: not meant for the bot, say nothing. `refused`: tell the person. */
export type Verdict = "allowed" | "ignored" | "refused" | "claims";

export function judge(rules: AccessRules, { openId, chatId, isDirect, mentionsBot, owner }: Approach): Verdict {
  if (!isDirect && rules.groups === "mention" && !mentionsBot) return "ignored";
  if (openId === null) return "ignored";
  if (rules.users.includes(openId) || owner === openId) return "allowed";
  if (rules.chats.includes(chatId)) return "allowed";
  if (isDirect && rules.claim && owner === null && rules.users.length === 0 && rules.chats.length === 0) return "claims";
  return isDirect || mentionsBot ? "refused" : "ignored";
}

/** For what agents may be used in a chat. Folders are absolute and normalised. */
export interface ChatLimits {
  /** Where a new thread works. */
  readonly cwd: string;
  readonly folders: readonly string[];
  /** As for `isModelAllowed`. */
  readonly models: readonly string[];
  /** Set for this chat: then they bind everybody in it, the people that are named for the bot, too. */
  readonly isOwn: boolean;
}

interface LimitSettings extends Pick<ChatLimits, "cwd" | "folders" | "models"> {
  readonly chats: Readonly<Record<string, { readonly cwd?: string | undefined; readonly folders?: readonly string[] | undefined; readonly models?: readonly string[] | undefined }>>;
}

/** A chat's own limits in place of the general ones; what it has none of is the general one. */
export function limitsOf({ cwd, folders, models, chats }: LimitSettings, chatId: string): ChatLimits {
  const general = { cwd, folders: [cwd, ...folders], models, isOwn: false };
  const own = Object.hasOwn(chats, chatId) ? chats[chatId] : undefined;
  if (own === undefined) return general;
  const named = [...(own.cwd === undefined ? [] : [own.cwd]), ...(own.folders ?? [])];
  const allowed = named.length === 0 ? general.folders : named;
  return { cwd: own.cwd ?? (isInFolders(allowed, cwd) ? cwd : allowed[0]!), folders: allowed, models: own.models ?? models, isOwn: true };
}

/** Whether a thread may be used there; null = its model is not known. */
export function isWithin({ folders, models }: Pick<ChatLimits, "folders" | "models">, { cwd, model }: { readonly cwd: string; readonly model: string | null }): boolean {
  return isInFolders(folders, cwd) && (model === null || isModelAllowed(models, model));
}

/** Whether a folder is one of those allowed, or below one. Both are absolute and normalised. */
export function isInFolders(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`));
}

/** Whether a model is one of those named, or of a harness that is; nothing named = all. Ids are `harness/model`. */
export function isModelAllowed(models: readonly string[], id: string): boolean {
  return models.length === 0 || models.some((named) => id === named || id.startsWith(named.endsWith("/") ? named : `${named}/`));
}
