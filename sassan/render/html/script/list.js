// The list of functions: search, order, and the keys that move in it.

const ORDERS = {
  input: ["as in the input", (one) => one.at],
  name: ["name", (one) => one.shown],
  wcet: ["WCET", (one) => one.wcet ?? -1],
  makespan: ["makespan", (one) => one.makespan ?? -1],
  instructions: ["instructions", (one) => one.instructions],
  blocks: ["blocks", (one) => one.blocks],
  divergent_branches: ["divergent branches", (one) => one.divergent_branches],
  reactivation_edges: ["reconvergence edges", (one) => one.reactivation_edges],
  loops: ["loops", (one) => one.loops],
  gap_count: ["gaps", (one) => one.gap_count],
  arch: ["architecture", (one) => Number(one.arch.replace(/\D/g, "")) || 0],
};
const TEXTS = new Set(["input", "name"]);
const listing = { words: "", order: "input", down: false, shown: [], active: 0 };
let listRows;

// Rows have one height: two lines for names where some are long.
const LONG_NAME = 32;
const listHeight = () => (FUNCTIONS.some((one) => one.head.length > LONG_NAME) ? 64 : 46) + (FUNCTIONS.some((one) => one.where) ? 18 : 0);

function option(place) {
  const one = listing.shown[place];
  const facts = [one.arch, one.wcet === null ? (one.gap_count ? "" : "no WCET") : `WCET ${number(one.wcet)}`, one.divergent_branches ? `${number(one.divergent_branches)} divergent` : ""];
  const attributes = { id: `option-${one.at}`, role: "option", "aria-selected": String(one.at === state.at), "aria-setsize": listing.shown.length, "aria-posinset": place + 1 };
  return el(
    "div",
    { ...attributes, class: place === listing.active ? "active" : "", title: `${one.shown}\n${one.name}\n${one.file}`, onclick: () => open(one.at) },
    el("span", { class: "name" }, one.head),
    where(one),
    el("span", { class: "facts" }, facts.filter(Boolean).join(" \u00b7 "), one.gap_count ? el("b", { class: "gap" }, ` ${many(one.gap_count, "gap")}`) : ""),
  );
}

const haystacks = FUNCTIONS.map((one) => [one.name, one.shown, one.arch, one.file, ...one.gaps, one.gap_count ? "gap" : "bounded"].join(" ").toLowerCase());

function found(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return FUNCTIONS.filter((one) => wanted.every((word) => haystacks[one.at].includes(word)));
}

function ordered(functions, order, down) {
  const key = ORDERS[order][1];
  const sign = down ? -1 : 1;
  return [...functions].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return x === y ? a.at - b.at : (x < y ? -1 : 1) * sign;
  });
}

function refreshList() {
  listing.shown = ordered(found(listing.words), listing.order, listing.down);
  byId("list").scrollTop = 0;
  listRows.resize(listing.shown.length);
  byId("count").textContent = listing.words ? `${number(listing.shown.length)} of ${many(FUNCTIONS.length, "function")}` : many(FUNCTIONS.length, "function");
  byId("direction").textContent = listing.down ? "\u2193" : "\u2191";
  activate(Math.max(0, listing.shown.findIndex((one) => one.at === state.at)), false);
  refreshOverview();
}

function sortBy(order, down) {
  listing.order = order;
  listing.down = down;
  byId("sort").value = order;
  refreshList();
}

// Numbers are sorted largest first, texts alphabetically; a second click reverses the order.
const sortAgain = (order) => sortBy(order, listing.order === order ? !listing.down : !TEXTS.has(order));

function activate(at, scroll = true) {
  listing.active = Math.min(Math.max(at, 0), listing.shown.length - 1);
  const one = listing.shown[listing.active];
  if (scroll && one) listRows.reveal(listing.active);
  listRows.redraw();
  if (one) byId("list").setAttribute("aria-activedescendant", `option-${one.at}`);
  else byId("list").removeAttribute("aria-activedescendant");
}

function markOpen(at) {
  const place = listing.shown.findIndex((one) => one.at === at);
  if (place >= 0) activate(place);
  else listRows.redraw();
}

const openActive = () => listing.shown[listing.active] && open(listing.shown[listing.active].at);

function listKey(event) {
  const page = 10;
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (event.key in moves) {
    const to = listing.active + moves[event.key];
    activate(Math.min(Math.max(to, 0), listing.shown.length - 1));
  } else if (event.key === "Enter" || event.key === " ") openActive();
  else return;
  event.preventDefault();
}

function searchKey(event) {
  if (event.key === "ArrowDown") byId("list").focus();
  else if (event.key === "Enter") openActive();
  else if (event.key === "Escape" && listing.words) search("");
  else if (event.key === "Escape") byId("search").blur();
  else return;
  event.preventDefault();
}

function search(words) {
  byId("search").value = words;
  listing.words = words;
  refreshList();
}

function startList() {
  listRows = virtualRows(byId("list"), 0, listHeight(), option);
  byId("list").style.setProperty("--row", `${listHeight()}px`);
  byId("sort").append(...Object.entries(ORDERS).map(([key, [name]]) => el("option", { value: key }, name)));
  byId("sort").addEventListener("change", (event) => sortBy(event.target.value, !TEXTS.has(event.target.value)));
  byId("direction").addEventListener("click", () => sortBy(listing.order, !listing.down));
  byId("search").addEventListener("input", (event) => search(event.target.value));
  byId("search").addEventListener("keydown", searchKey);
  byId("list").addEventListener("keydown", listKey);
}
