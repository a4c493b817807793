"use strict";

/* Elements and words. Whatever a report says gets into the page as text, through `shown`, and in no other way. */

const BLANK = /[\p{C}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\ufe00-\ufe0f\uffa0\u{16fe4}\u{1d159}\u{e0100}-\u{e01ef}]/gu;
const GIB = 2 ** 30;

/** Text with each control and each invisible character as an escape: it stays on its line and in its order. */
function shown(text) {
  return String(text).replace(BLANK, (c) => {
    const code = c.codePointAt(0);
    const [mark, digits] = code > 0xffff ? ["U", 8] : code > 0xff ? ["u", 4] : ["x", 2];
    return `\\${mark}${code.toString(16).padStart(digits, "0")}`;
  });
}

/** An element. Attributes named on... are listeners, null ones are left out; children are elements or texts. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  put(element, ...children);
  return element;
}

/** Append elements, and texts as text. */
function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
}

function code(text) {
  return make("code", null, text);
}

/** A sentence of the report: its direction of writing changes nothing around it. */
function prose(text) {
  return make("bdi", null, text);
}

function listOf(items, className = null) {
  return make("ul", { class: className }, items.map((item) => make("li", null, item)));
}

function wordMark(word) {
  return make("span", { class: `word ${word}` }, word);
}

function details(summary, ...children) {
  return make("details", null, make("summary", null, summary), ...children);
}

/** A table in a frame that scrolls by itself where the page is narrow. */
function table(label, head, rows) {
  const row = (cells) => make("tr", null, cells.map((cell) => make("td", null, cell)));
  const headRow = make("tr", null, head.map((cell) => make("th", { scope: "col" }, cell)));
  const body = make("tbody", null, rows.map(row));
  return make("div", { class: "wide", role: "region", "aria-label": shown(label), tabindex: "0" },
    make("table", null, make("thead", null, headRow), body));
}

function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

function gib(bytes) {
  return bytes === null ? "not known" : `${(bytes / GIB).toFixed(2)} GiB`;
}

/** Items with what stands between them. */
function joined(items, between = ", ") {
  return items.flatMap((item, index) => (index ? [between, item] : [item]));
}
