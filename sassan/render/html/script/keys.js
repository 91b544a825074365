// Keys that work everywhere, and the list of all keys.

const KEYS = [
  ["/", "search functions", () => focusSearch()],
  ["o", "all functions", () => goHome()],
  ["j", "next function", () => step(1)],
  ["k", "previous function", () => step(-1)],
  ["g", "go to the graph", () => state.view && state.view.select(state.view.chosen, true)],
  ["+", "zoom in", () => state.view?.zoom(1.25)],
  ["-", "zoom out", () => state.view?.zoom(0.8)],
  ["0", "fit the graph", () => state.view?.fit()],
  ["w", "worst path on, off", () => toggleLook("worst")],
  ["h", "heat map on, off", () => toggleLook("heat")],
  ["t", "light, dark", () => turnTheme()],
  ["?", "this list", () => showKeys()],
];
const ALSO = [
  ["\u2191 \u2193", "in the list of functions: move; Enter opens"],
  ["\u2190 \u2191 \u2193 \u2192", "in the graph: move to the next block; Enter shows its listing"],
  ["Esc", "leave the search, the listing of a block, this list"],
];
const SAME = { "=": "+", _: "-" };

function showKeys() {
  const rows = [...KEYS, ...ALSO].map(([key, text]) => [el("kbd", {}, key), text]);
  byId("keys").replaceChildren(el("h2", { id: "keys-title" }, "Keys"), table([["key"], [""]], rows), el("form", { method: "dialog" }, el("button", {}, "Close")));
  byId("keys").showModal();
}

function focusSearch() {
  byId("search").focus();
  byId("search").select();
}

function step(by) {
  const at = listing.shown.findIndex((one) => one.at === state.at);
  const to = listing.shown[at < 0 ? 0 : at + by];
  if (to) open(to.at);
}

const typing = (node) => node.closest?.("input, select, textarea, dialog[open]");

function escape() {
  const view = state.view;
  if (view?.inspector.contains(document.activeElement)) view.select(view.chosen);
  else if (view && view.element.contains(document.activeElement)) document.activeElement.blur();
  else if (listing.words) search("");
}

function pageKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
  if (event.key === "Escape") return escape();
  const known = KEYS.find(([key]) => key === (SAME[event.key] ?? event.key));
  if (!known) return;
  event.preventDefault();
  known[2]();
}
