// Elements. Text from the input only ever becomes text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== ""));
  return node;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const button = (text, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, text);

// A panel with a heading; `name` is its class.
const panel = (title, name, ...children) => el("section", { class: `panel ${name}`, "aria-label": title }, el("h3", {}, title), ...children);

const items = (texts, name = "") => el("ul", { class: name }, texts.map((text) => el("li", {}, text)));

// Rows of cells under a head; numbers are aligned to the right. `columns` are [title, isNumber, tip].
function table(columns, rows, attributes = {}) {
  const head = columns.map(([title, number, tip]) => el("th", { scope: "col", class: number ? "number" : "", title: tip }, title));
  const body = rows.map((cells) => el("tr", {}, cells.map((cell, at) => el("td", { class: columns[at][1] ? "number" : "" }, cell))));
  return el("div", { class: "scroll" }, el("table", attributes, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
}
