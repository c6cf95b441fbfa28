import { call, element, textOf, toast } from "./elements.js";
import { renderImage, renderMarkdown, renderTable } from "./markdown-view.js";

// What a reader has done to a card stays while the card changes: opened panels, text in inputs, the part of a streaming
// text that was already printed. Kept by message and element.
const panels = new Map();
const typed = new Map();
const printing = new Map();

/** The elements of a card as a client of Card JSON 2.0 shows them; `me` presses its buttons. */
export function renderCard(message, me) {
  const { card, streaming } = message.card;
  const context = { messageId: message.messageId, me, streaming, config: card.config ?? {}, form: null, path: "" };
  const body = element("div", "body", ...renderAll(card.body?.elements, context));
  body.dataset.direction = card.body?.direction ?? "vertical";
  const shown = element("div", "card", card.header ? renderHeader(card.header) : null, body);
  shown.dataset.width = context.config.width_mode ?? "default";
  shown.dataset.streaming = String(streaming);
  return shown;
}

function renderHeader(header) {
  const tags = (header.text_tag_list ?? []).slice(0, 3).map((tag) => coloured("text-tag", tag.color, textOf(tag.text)));
  const shown = element("div", "header", element("div", "title", header.icon ? icon(header.icon) : null, renderText(header.title), ...tags), header.subtitle ? element("div", "subtitle", textOf(header.subtitle)) : null);
  shown.dataset.template = header.template ?? "default";
  return shown;
}

function renderAll(list, context) {
  return (list ?? []).map((item, index) => renderElement(item, { ...context, path: context.path + "/" + (item.element_id ?? index) }));
}

const renderers = {
  markdown: (item, context) => sized(item, withIcon(item, printed(item, context))),
  plain_text: (item) => sized(item, renderText(item)),
  lark_md: (item) => sized(item, renderText(item)),
  div: (item) => withIcon(item, item.text ? sized(item.text, renderText(item.text)) : element("div")),
  hr: () => element("hr"),
  img: (item) => renderImage(item.img_key, textOf(item.alt)),
  column_set: renderColumns,
  column: (item, context) => container(item, element("div", "column", ...renderAll(item.elements, context))),
  collapsible_panel: renderPanel,
  form: (item, context) => {
    const form = { values: {}, required: [] };
    return container(item, element("div", "form", ...renderAll(item.elements, { ...context, form })));
  },
  interactive_container: (item, context) => {
    const box = container(item, element("div", "interactive", ...renderAll(item.elements, context)));
    if (item.disabled !== true) box.onclick = () => press(item, context, {});
    return box;
  },
  button: renderButton,
  input: renderInput,
  select_static: (item, context) => renderSelect(item, context, false),
  multi_select_static: (item, context) => renderSelect(item, context, true),
  checker: renderChecker,
  table: (item) => renderTable((item.columns ?? []).map((column) => [column.display_name ?? column.name]), (item.rows ?? []).map((row) => (item.columns ?? []).map((column) => [cellText(row[column.name])]))),
  person: (item) => element("span", "at", window.demoNames?.[item.user_id] ?? "未知用户"),
};

function renderElement(item, context) {
  const shown = renderers[item.tag]?.(item, context) ?? element("div", "unsupported", "[" + item.tag + "]");
  shown.dataset.tag = item.tag;
  if (item.element_id) shown.dataset.elementId = item.element_id;
  if (item.margin) shown.style.margin = lengths(item.margin);
  return shown;
}

function renderText(text) {
  return text?.tag === "markdown" || text?.tag === "lark_md" ? renderMarkdown(textOf(text)) : element("span", "plain", textOf(text));
}

function sized(item, shown) {
  if (item.text_size) shown.dataset.size = item.text_size;
  if (item.text_align) shown.style.textAlign = item.text_align;
  if (item.text_color) shown.dataset.color = String(item.text_color).split("-")[0];
  return shown;
}

function withIcon(item, shown) {
  return item.icon ? element("div", "with-icon", icon(item.icon), shown) : shown;
}

function icon(value) {
  const marks = [[/down|expand/, "▾"], [/done|yes|succeed|check/, "✓"], [/close|no_|error|fail/, "✕"], [/loading|time|wait/, "◷"], [/robot|bot|ai/, "◈"], [/search/, "⌕"], [/warn|info/, "ⓘ"], [/edit/, "✎"], [/file|doc/, "▤"], [/code|terminal/, "⌘"]];
  const shown = element("span", "icon", marks.find(([pattern]) => pattern.test(value.token ?? ""))?.[1] ?? "•");
  shown.dataset.color = String(value.color ?? "").split("-")[0];
  return shown;
}

function renderColumns(item, context) {
  const shown = element("div", "columns", ...renderAll(item.columns, context));
  shown.dataset.flex = item.flex_mode ?? "none";
  if (item.background_style) shown.dataset.background = item.background_style;
  shown.style.gap = spacing(item.horizontal_spacing);
  for (const [index, column] of (item.columns ?? []).entries()) {
    const part = shown.children[index];
    if ((item.flex_mode ?? "none") === "none") {
      part.style.flex = column.width === "weighted" ? (column.weight ?? 1) + " 1 0" : "0 1 auto";
      if (/^\d+px$/.test(column.width ?? "")) part.style.flex = "0 0 " + column.width;
    }
    part.style.justifyContent = { center: "center", bottom: "flex-end" }[column.vertical_align] ?? "flex-start";
  }
  return shown;
}

function renderPanel(item, context) {
  const key = context.messageId + context.path;
  const server = item.expanded === true;
  const known = panels.get(key);
  // What the reader did stands until the server itself says something else.
  if (known === undefined || known.server !== server) panels.set(key, { server, open: server });
  const state = panels.get(key);
  const mark = element("span", "mark", "▾");
  const head = element("div", "panel-head", renderText(item.header?.title), mark);
  head.dataset.iconPosition = item.header?.icon_position ?? "right";
  head.dataset.width = item.header?.width ?? "fill";
  if (item.header?.background_color) head.dataset.background = item.header.background_color;
  if (item.header?.padding) head.style.padding = lengths(item.header.padding);
  const inside = container(item, element("div", "panel-body", ...renderAll(item.elements, context)));
  const shown = element("div", "panel", head, inside);
  if (item.border) shown.dataset.border = item.border.color ?? "grey";
  if (item.border?.corner_radius) shown.style.borderRadius = item.border.corner_radius;
  if (item.background_color) shown.dataset.background = item.background_color;
  const show = () => {
    shown.dataset.open = String(state.open);
    mark.style.transform = state.open ? "rotate(" + (item.header?.icon_expanded_angle ?? 180) + "deg)" : "";
  };
  head.onclick = () => ((state.open = !state.open), show());
  show();
  return shown;
}

function renderButton(item, context) {
  const shown = element("button", "feishu-button", item.icon ? icon(item.icon) : null, textOf(item.text));
  shown.dataset.type = item.type ?? "default";
  shown.dataset.buttonSize = item.size ?? "medium";
  shown.dataset.width = item.width ?? "default";
  shown.disabled = item.disabled === true;
  shown.title = textOf(item.disabled ? (item.disabled_tips ?? item.hover_tips) : item.hover_tips);
  const submits = item.form_action_type === "submit" || item.action_type === "form_submit";
  shown.onclick = async (event) => {
    event.stopPropagation();
    const url = (item.behaviors ?? []).find((behavior) => behavior.type === "open_url")?.default_url ?? item.url;
    if (/^https?:\/\//.test(url ?? "")) window.open(url, "_blank", "noreferrer");
    if (item.form_action_type === "reset") return void context.form?.reset?.forEach((act) => act());
    if (submits && context.form.required.some((name) => !filled(context.form.values[name]))) return toast("有必填项未填写", "warning");
    // The clients ask only before a form is sent.
    if (submits && item.confirm && !window.confirm(textOf(item.confirm.title) + "\n\n" + textOf(item.confirm.text))) return;
    if (!submits && !item.value && !(item.behaviors ?? []).some((behavior) => behavior.type === "callback")) return;
    shown.dataset.waiting = "true";
    await press(item, context, submits ? { form: context.form.values } : {});
    delete shown.dataset.waiting;
  };
  return shown;
}

async function press(item, context, more) {
  try {
    const where = item.element_id ? { elementId: item.element_id } : item.name ? { name: item.name } : { text: textOf(item.text) };
    const result = await call("click", { messageId: context.messageId, by: context.me(), ...where, ...more });
    if (result.outcome === "error") toast("操作失败 (" + result.code + ")", "error");
    else if (result.toast) toast(result.toast.content, result.toast.type);
  } catch (error) {
    toast(String(error), "error");
  }
  document.dispatchEvent(new Event("demo-refresh"));
}

/** Binds an input to its form, or sends its value at once where it stands alone. */
function bind(item, context, initial, set, send) {
  const key = context.messageId + context.path;
  const name = item.name;
  const value = typed.has(key) ? typed.get(key) : initial;
  set(value);
  if (context.form !== null && name) {
    context.form.values[name] = value;
    if (item.required) context.form.required.push(name);
    (context.form.reset ??= []).push(() => (typed.delete(key), set(initial), (context.form.values[name] = initial)));
  }
  return (next, final) => {
    typed.set(key, next);
    if (context.form !== null && name) context.form.values[name] = next;
    else if (final) void press(item, context, send(next));
  };
}

function renderInput(item, context) {
  const field = element(item.input_type === "multiline_text" ? "textarea" : "input");
  if (item.input_type === "password") field.type = "password";
  if (item.input_type === "multiline_text") field.rows = item.rows ?? 3;
  field.placeholder = textOf(item.placeholder) || "请输入";
  field.maxLength = item.max_length ?? 1000;
  field.disabled = item.disabled === true;
  const change = bind(item, context, item.default_value ?? "", (value) => (field.value = value), (input) => ({ input }));
  field.oninput = () => change(field.value, false);
  field.onchange = () => change(field.value, true);
  return element("label", "field " + (item.label_position ?? "top"), item.label ? element("span", "label", textOf(item.label), item.required ? element("b", "required", " *") : null) : null, field);
}

function renderSelect(item, context, many) {
  const field = element("select");
  field.multiple = many;
  field.disabled = item.disabled === true;
  if (!many) field.append(new Option(textOf(item.placeholder) || "请选择", "", true));
  for (const option of item.options ?? []) field.append(new Option(textOf(option.text), option.value));
  const read = () => (many ? [...field.selectedOptions].map((option) => option.value) : field.value);
  const set = (value) => [...field.options].forEach((option) => (option.selected = many ? value.includes(option.value) : option.value === value));
  const change = bind(item, context, many ? (item.selected_values ?? []) : (item.initial_option ?? ""), set, (value) => (many ? { options: value } : { option: value }));
  field.onchange = () => change(read(), true);
  return element("label", "field", field);
}

function renderChecker(item, context) {
  const field = element("input");
  field.type = "checkbox";
  field.disabled = item.disabled === true;
  const change = bind(item, context, item.checked === true, (value) => (field.checked = value), (checked) => ({ checked }));
  field.onchange = () => change(field.checked, true);
  return element("label", "checker", field, renderText(item.text));
}

/** Streaming text that goes on from what was there is printed letter by letter; anything else is shown at once. */
function printed(item, context) {
  const text = textOf(item);
  const key = context.messageId + context.path;
  const before = printing.get(key);
  if (before !== undefined) clearInterval(before.timer);
  const goesOn = context.streaming && before !== undefined && text.startsWith(before.text) && text !== before.text;
  // The strategy "fast" prints what was left of the old text at once.
  const state = { text, shown: goesOn ? before.text.length : text.length, timer: undefined };
  printing.set(key, state);
  const holder = element("div");
  const show = () => holder.replaceChildren(renderMarkdown(text.slice(0, state.shown)));
  show();
  if (state.shown < text.length) {
    const { print_frequency_ms: pauses, print_step: steps } = context.config.streaming_config ?? {};
    state.timer = setInterval(() => {
      state.shown = Math.min(text.length, state.shown + (steps?.pc ?? steps?.default ?? 1));
      show();
      if (state.shown >= text.length) clearInterval(state.timer);
    }, pauses?.pc ?? pauses?.default ?? 70);
  }
  return holder;
}

function container(item, shown) {
  if (item.padding) shown.style.padding = lengths(item.padding);
  if (item.vertical_spacing && item.direction !== "horizontal") shown.style.gap = spacing(item.vertical_spacing);
  if (item.direction) shown.dataset.direction = item.direction;
  if (item.background_style && item.background_style !== "default") shown.dataset.background = item.background_style;
  if (item.horizontal_align) shown.dataset.align = item.horizontal_align;
  return shown;
}

function coloured(className, color, text) {
  const shown = element("span", className, text);
  shown.dataset.color = color ?? "neutral";
  return shown;
}

function spacing(value) {
  return { small: "4px", medium: "8px", large: "12px", extra_large: "16px" }[value] ?? (/^\d+px$/.test(value ?? "") ? value : "8px");
}

function lengths(value) {
  return String(value).split(/\s+/).map((part) => (/^-?\d+(px)?$/.test(part) ? Number.parseInt(part, 10) + "px" : "0")).join(" ");
}

function cellText(value) {
  return Array.isArray(value) ? value.map((part) => part.text ?? "").join(" ") : String(value ?? "");
}

function filled(value) {
  return value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);
}
