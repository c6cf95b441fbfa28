import { element } from "./elements.js";
import { parseMarkdown } from "./markdown.js";

const pageRows = 5;

export function renderMarkdown(text) {
  const holder = element("div", "md");
  holder.append(...parseMarkdown(text).map(renderBlock));
  return holder;
}

function renderBlock(block) {
  switch (block.type) {
    case "heading": return element("div", "h" + block.level, ...renderInline(block.inline));
    case "code": return renderCode(block);
    case "hr": return element("hr");
    case "quote": return element("blockquote", "", ...block.blocks.map(renderBlock));
    case "list": return renderList(block);
    case "table": return renderTable(block.head.map(renderInline), block.rows.map((row) => row.map(renderInline)));
    default: return element("p", "", ...renderInline(block.inline));
  }
}

function renderCode({ language, text }) {
  const body = element("code");
  for (const line of text.split("\n")) {
    const kind = language.toLowerCase() === "diff" ? (line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "hunk" : "") : "";
    body.append(element("span", "line " + kind, line === "" ? "\u200b" : line), "\n");
  }
  return element("pre", "", element("div", "language", language === "" ? "Plain Text" : language), body);
}

function renderList({ ordered, start, items }) {
  const list = element(ordered ? "ol" : "ul");
  if (ordered) list.start = start;
  list.append(...items.map((item) => element("li", "", ...renderInline(item.inline), ...item.blocks.map(renderBlock))));
  return list;
}

/** Five rows a page, as the clients show it. */
export function renderTable(head, rows) {
  const body = element("tbody");
  const note = element("span");
  const holder = element("div", "table", element("table", "", element("thead", "", element("tr", "", ...head.map((cell) => element("th", "", ...cell)))), body));
  const pages = Math.max(1, Math.ceil(rows.length / pageRows));
  let page = 0;
  const show = () => {
    body.replaceChildren(...rows.slice(page * pageRows, (page + 1) * pageRows).map((row) => element("tr", "", ...row.map((cell) => element("td", "", ...cell)))));
    note.textContent = page + 1 + "/" + pages;
  };
  show();
  if (pages > 1) {
    const turn = (label, by) => {
      const made = element("button", "page", label);
      made.onclick = () => ((page = (page + by + pages) % pages), show());
      return made;
    };
    holder.append(element("div", "pager", turn("‹", -1), note, turn("›", 1)));
  }
  return holder;
}

export function renderInline(nodes) {
  return nodes.map((node) => (typeof node === "string" ? document.createTextNode(node) : renderNode(node)));
}

function renderNode(node) {
  const inner = () => renderInline(node.inline);
  switch (node.type) {
    case "br": return element("br");
    case "code": return element("code", "inline", node.text);
    case "image": return renderImage(node.key, node.alt);
    case "link": return anchor(node.url ?? node.attributes?.url, inner());
    case "a": return anchor(node.attributes.href, inner().length > 0 ? inner() : [node.attributes.href ?? ""]);
    case "font": return coloured("span", "font", node.attributes.color, inner());
    case "text_tag": return coloured("span", "text-tag", node.attributes.color, inner());
    case "number_tag": return element("span", "number-tag", ...inner());
    case "at": return element("span", "at", "@" + (node.attributes.id === "all" ? "所有人" : (window.demoNames?.[node.attributes.id] ?? node.attributes.id ?? "")));
    case "person": return element("span", "at", window.demoNames?.[node.attributes.id] ?? "未知用户");
    case "local_datetime": return element("span", "", new Date(Number(node.attributes.millisecond)).toLocaleString());
    case "strong": return element("strong", "", ...inner());
    case "em": return element("em", "", ...inner());
    case "del": return element("del", "", ...inner());
    default: return element("span", "", ...inner());
  }
}

function anchor(url, children) {
  if (!/^https?:\/\//.test(url ?? "")) return element("span", "", ...children);
  const made = element("a", "", ...children);
  made.href = url;
  made.target = "_blank";
  made.rel = "noreferrer noopener";
  return made;
}

function coloured(name, className, color, children) {
  const made = element(name, className, ...children);
  made.dataset.color = String(color ?? "default").split("-")[0];
  return made;
}

export function renderImage(key, alt) {
  const made = element("img");
  made.src = "/demo/file/" + encodeURIComponent(key);
  made.alt = alt;
  return made;
}
