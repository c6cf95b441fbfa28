// Small helpers that make elements. Text is only ever set as text.

export function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Calls a method of the fake. */
export async function call(method, argument = {}) {
  const answer = await fetch("/__fake/" + method, { method: "POST", body: JSON.stringify(argument) });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body.result;
}

export function toast(text, type = "info") {
  const shown = element("div", "toast " + type, text);
  document.getElementById("toasts").append(shown);
  setTimeout(() => shown.remove(), 4000);
}

/** A text object in the reader's language. */
export function textOf(value) {
  if (value === null || value === undefined) return "";
  const own = value.i18n_content?.[navigator.language.startsWith("zh") ? "zh_cn" : "en_us"];
  return own ?? value.content ?? "";
}
