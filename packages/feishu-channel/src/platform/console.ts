/** A permission of Feishu's console that the channel asks for. */
export interface Scope {
  readonly name: string;
  /** Wider ones, each of which holds it. */
  readonly or: readonly string[];
  /** What is missing without it. */
  readonly without: string;
}

/** Nothing works, or not all of it, without these (the pages of the single calls in Feishu's documentation). */
export const NEEDED_SCOPES: readonly Scope[] = [
  { name: "im:message.p2p_msg:readonly", or: ["im:message"], without: "no direct messages" },
  { name: "im:message.group_at_msg:readonly", or: ["im:message", "im:message.group_msg"], without: "no messages of groups" },
  { name: "im:message:send_as_bot", or: ["im:message"], without: "no answers" },
  { name: "im:message:update", or: ["im:message"], without: "approvals do not settle" },
  { name: "im:message:readonly", or: ["im:message"], without: "what was sent cannot be checked" },
  { name: "im:resource", or: [], without: "no images and files" },
  { name: "im:chat:readonly", or: ["im:chat"], without: "groups cannot be told apart" },
  { name: "cardkit:card:write", or: [], without: "no cards" },
];

/** Each makes something better. */
export const USEFUL_SCOPES: readonly Scope[] = [
  { name: "contact:user.base:readonly", or: [], without: "no names of people on cards" },
  { name: "im:message.group_msg", or: [], without: "after an hour without a connection, a group is not searched for what was sent already" },
  { name: "application:application:self_manage", or: [], without: "events and callbacks cannot be looked at from here" },
];

export const EVENTS: readonly string[] = ["im.message.receive_v1"];
export const CALLBACKS: readonly string[] = ["card.action.trigger"];

/** Those of the scopes that are not granted, neither themselves nor by a wider one. */
export function missingScopes(wanted: readonly Scope[], granted: readonly string[]): Scope[] {
  return wanted.filter(({ name, or }) => ![name, ...or].some((each) => granted.includes(each)));
}
