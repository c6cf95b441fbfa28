import { renderCard } from "./card.js";
import { call, element, toast } from "./elements.js";
import { renderImage, renderMarkdown } from "./markdown-view.js";

const view = { chatId: null, me: null, replyTo: null, chats: [], shown: new Map() };
const byId = (id) => document.getElementById(id);
const me = () => view.me;

async function refresh() {
  try {
    view.chats = await call("chats");
  } catch {
    byId("state").textContent = "offline";
    return;
  }
  byId("state").textContent = "";
  window.demoNames = Object.fromEntries(view.chats.flatMap((chat) => chat.people.map((person) => [person.openId, person.name])));
  view.chatId ??= view.chats[0]?.chatId ?? null;
  showChats();
  showChat();
}

function showChats() {
  byId("chats").replaceChildren(...view.chats.map((chat) => {
    const last = chat.messages.at(-1);
    const preview = last === undefined ? "" : last.gone ? "…" : last.card ? last.card.summary : withNames(last.text);
    const shown = element("button", chat.chatId === view.chatId ? "chat active" : "chat", element("b", "", chat.name + (chat.mode === "p2p" ? "" : " ⚇")), element("span", "preview", preview.slice(0, 60)));
    shown.onclick = () => {
      Object.assign(view, { chatId: chat.chatId, me: null, replyTo: null });
      view.shown.clear();
      byId("messages").replaceChildren();
      void refresh();
    };
    return shown;
  }));
}

function showChat() {
  const chat = view.chats.find((other) => other.chatId === view.chatId);
  if (chat === undefined) return;
  byId("title").textContent = chat.name;
  if (!chat.people.some((person) => person.openId === view.me)) {
    view.me = chat.people[0]?.openId ?? null;
    byId("who").replaceChildren(...chat.people.map((person) => new Option(person.name, person.openId)));
  }
  byId("mention-field").hidden = chat.mode === "p2p";
  const list = byId("messages");
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  for (const message of chat.messages) {
    const known = view.shown.get(message.messageId);
    const text = JSON.stringify(message);
    // A field that somebody is writing in must not be taken away under the hands.
    const writing = document.activeElement?.matches("input, textarea, select") && known?.node.contains(document.activeElement);
    if (known?.text === text || writing) continue;
    const node = renderMessage(message, chat);
    if (known === undefined) list.append(node);
    else known.node.replaceWith(node);
    view.shown.set(message.messageId, { text, node });
  }
  if (atEnd) list.scrollTop = list.scrollHeight;
}

function renderMessage(message, chat) {
  const own = message.sender.kind === "user";
  const shown = element("div", "message " + (own ? "person" : "bot"));
  shown.dataset.messageId = message.messageId;
  if (message.threadId !== null) shown.classList.add("topic");
  if (message.gone !== null) {
    shown.append(element("div", "gone", message.sender.name + " 撤回了一条消息"));
    return shown;
  }
  const parent = chat.messages.find((other) => other.messageId === message.parentId);
  const quote = parent === undefined ? null : element("div", "quote", "回复 " + parent.sender.name + ": " + (parent.card ? parent.card.summary : parent.text).slice(0, 40));
  const answer = element("button", "reply", "↩");
  answer.title = "reply";
  answer.onclick = () => {
    view.replyTo = message.messageId;
    byId("replying").textContent = "↩ " + (message.card ? message.card.summary : message.text).slice(0, 50);
    byId("text").focus();
  };
  const time = new Date(message.createTimeMs).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  shown.append(element("div", "avatar", message.sender.name.slice(0, 1)), element("div", "content", element("div", "sender", message.sender.name + " " + time), quote, renderContent(message)), answer);
  return shown;
}

function renderContent(message) {
  if (message.card !== null) return renderCard(message, me);
  const content = JSON.parse(message.content);
  if (message.type === "image") return element("div", "bubble", renderImage(content.image_key, "image"));
  if (message.type === "file") {
    const link = element("a", "file", "▤ " + (content.file_name ?? content.file_key));
    link.href = "/demo/file/" + encodeURIComponent(content.file_key);
    return element("div", "bubble", link);
  }
  if (message.type === "post") return element("div", "bubble", renderPost(content));
  return element("div", "bubble", element("span", "plain", withNames(message.text)));
}

/** In this demo only the bot is ever mentioned. */
function withNames(text) {
  return text.replaceAll(/@_user_\d+/g, "@bot");
}

function renderPost(content) {
  const post = Array.isArray(content.content) ? content : Object.values(content)[0];
  const piece = (part) => {
    if (part.tag === "md") return renderMarkdown(part.text);
    if (part.tag === "code_block") return element("pre", "", element("div", "language", part.language ?? ""), element("code", "", part.text));
    if (part.tag === "at") return element("span", "at", "@" + (window.demoNames[part.user_id] ?? part.user_id));
    return element("span", "", part.text ?? "");
  };
  return element("div", "", post.title ? element("b", "", post.title) : null, ...post.content.map((pieces) => element("p", "", ...pieces.map(piece))));
}

byId("who").onchange = () => (view.me = byId("who").value);
byId("replying").onclick = () => ((view.replyTo = null), (byId("replying").textContent = ""));
document.addEventListener("demo-refresh", () => void refresh());
byId("composer").onsubmit = async (event) => {
  event.preventDefault();
  const text = byId("text").value.trim();
  if (text === "" || view.me === null) return;
  byId("text").value = "";
  const mention = !byId("mention-field").hidden && byId("mention").checked;
  try {
    await call("say", { chatId: view.chatId, from: view.me, text, mention, ...(view.replyTo !== null && { replyTo: view.replyTo }) });
  } catch (error) {
    toast(String(error), "error");
  }
  view.replyTo = null;
  byId("replying").textContent = "";
  await refresh();
};
byId("text").onkeydown = (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId("composer").requestSubmit();
};

/** `/?only=MESSAGE&open=N`: one message as a picture, panels less than N deep opened, and how high it is. */
function showOnly(messageId, depth) {
  document.body.dataset.only = "";
  for (const [id, { node }] of view.shown) node.hidden = id !== messageId;
  const depthOf = (panel) => (panel === null ? -1 : 1 + depthOf(panel.parentElement.closest(".panel")));
  for (const panel of document.querySelectorAll(".panel")) if ((panel.dataset.open === "true") !== depthOf(panel) < depth) panel.firstElementChild.click();
  document.documentElement.dataset.height = String(Math.ceil(byId("messages").scrollHeight));
}

await refresh();
const query = new URLSearchParams(location.search);
if (query.has("only")) {
  const chat = view.chats.find(({ messages }) => messages.some(({ messageId }) => messageId === query.get("only")));
  if (chat !== undefined && chat.chatId !== view.chatId) {
    view.chatId = chat.chatId;
    showChat();
  }
  showOnly(query.get("only"), query.has("open") ? Number(query.get("open")) : 0);
} else setInterval(() => void refresh(), 400);
