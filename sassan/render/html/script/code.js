// Source, PTX and machine code side by side. What was compiled from one source line has one colour; a click on a line shows what belongs to it.

const CODE_LINE = 18;
const CODE_CHARACTER = 7.3; // pixels of a character, at most
const LINES_BEFORE = 2;
const HUE_STEP = 137.5; // the golden angle: neighbours differ, however many lines there are
const panesShown = { source: true, ptx: true, machine: true };

// Panes are [name, title, lines]; a line has its place, and cells of text or elements.
async function codePanel(one, view) {
  if (!one.code) return "";
  const texts = await Promise.all(one.code.sources.map((name) => sourceLines(one, name)));
  const machine = one.graph.rows.map((row) => placeOf(row.source));
  const order = new Map([...new Set([...machine, ...one.code.ptx.map(([, place]) => place)])].filter(Boolean).sort(byPlace).map((place, at) => [place, at]));
  const code = { one, view, order, chosen: null, panes: [] };
  code.panes = [
    texts.length ? sourcePane(code, texts, machine) : null,
    one.code.ptx.length ? codePane(code, "ptx", "PTX", one.code.ptx.map(([, place]) => place), (at) => [one.code.ptx[at][0]], () => longest(one.code.ptx.map(([text]) => text))) : null,
    machinePane(code, machine),
  ].filter(Boolean);
  const grid = el("div", { class: "panes" }, code.panes.map((pane) => pane.element));
  const widths = () => {
    for (const pane of code.panes) pane.element.hidden = !panesShown[pane.name];
    const shown = code.panes.filter((pane) => panesShown[pane.name]);
    // Two panes that do not fit beside each other are below each other; of three, not all would be in sight.
    const below = shown.length === 2 && grid.clientWidth > 0 && shown.reduce((sum, pane) => sum + pane.width(), 0) > grid.clientWidth;
    grid.classList.toggle("below", below);
    grid.style.gridTemplateColumns = below ? "minmax(0, 1fr)" : shown.map((pane) => `minmax(0, ${Math.max(1, pane.width()).toFixed()}fr)`).join(" ");
  };
  const toggles = code.panes.length > 1 ? code.panes.map((pane) => paneToggle(pane, widths)) : [];
  widths();
  new ResizeObserver(widths).observe(grid);
  code.begin = () => beginCode(code, machine);
  view.code = code;
  return el("section", { class: "panel code", "aria-label": "Code" }, el("div", { class: "graph-head" }, el("h3", {}, "Code"), el("span", { class: "muted hint" }, codeHint(code)), el("span", { class: "tools" }, toggles)), grid);
}

// The panes of source begin where the function does: at the line of its first instruction.
function beginCode(code, machine) {
  const first = machine.find(Boolean);
  for (const pane of code.panes) {
    const at = first === undefined || pane.name === "machine" ? -1 : pane.places.indexOf(first);
    if (at >= 0) pane.list.element.scrollTop = Math.max(0, at - LINES_BEFORE) * CODE_LINE;
  }
}

const byPlace = (a, b) => a.localeCompare(b, "en", { numeric: true });

function codeHint(code) {
  if (!code.order.size) return "No source lines are known: compile with -lineinfo.";
  return code.panes.length > 1 ? "one colour is one source line; a click shows what belongs to it" : "one colour is one source line";
}

function paneToggle(pane, widths) {
  const node = button(pane.title, () => {
    panesShown[pane.name] = !panesShown[pane.name];
    node.setAttribute("aria-pressed", String(panesShown[pane.name]));
    widths();
  }, { "aria-pressed": String(panesShown[pane.name]), title: `show or hide ${pane.title}` });
  return node;
}

// A pane of lines whose cells are made by `cells`; `head` names columns.
function codePane(code, name, title, places, cells, characters, head = "", width = "") {
  const row = (at) => {
    const place = places[at];
    const hue = code.order.get(place);
    const node = el("div", { class: `line ${hue === undefined ? "" : "linked"} ${place && place === code.chosen ? "chosen" : ""}`, "data-place": place }, cells(at));
    if (hue !== undefined) node.style.setProperty("--hue", ((hue * HUE_STEP) % 360).toFixed(1));
    return node;
  };
  const list = virtualRows(el("div", { class: "lines", tabindex: "0", role: "group", "aria-label": title }), places.length, CODE_LINE, row);
  const pane = { name, title, places, list, width: () => CODE_CHARACTER * (characters() + 4) };
  pane.element = el("div", { class: `pane ${name}` }, el("div", { class: "pane-head" }, title, head), list.element);
  if (width) list.element.style.setProperty("--columns", width);
  list.element.addEventListener("click", (event) => choosePlace(code, event.target.closest(".line")?.dataset.place, pane));
  list.element.addEventListener("mouseover", (event) => pointAt(code, event.target.closest(".line")?.dataset.place));
  list.element.addEventListener("mouseleave", () => pointAt(code, ""));
  list.element.addEventListener("keydown", (event) => paneKey(code, pane, event));
  return pane;
}

const longest = (texts) => texts.reduce((most, text) => Math.max(most, text.length), 0);

function pointAt(code, place) {
  for (const pane of code.panes) for (const node of pane.list.rows().values()) node.classList.toggle("near", Boolean(place) && node.dataset.place === place);
}

// The lines of a place are marked in every pane, and each pane but that of the click shows the first of them.
function choosePlace(code, place, from) {
  if (!place || !code.order.has(place)) return;
  code.chosen = place;
  for (const pane of code.panes) {
    const first = pane.places.indexOf(place);
    if (pane !== from && first >= 0) pane.list.reveal(first);
    for (const node of pane.list.rows().values()) node.classList.toggle("chosen", node.dataset.place === place);
  }
}

// Up and down go from one source line to the next.
function paneKey(code, pane, event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const places = [...new Set(pane.places)].filter((place) => code.order.has(place));
  const at = places.indexOf(code.chosen);
  const place = places[Math.min(Math.max(at + by, 0), places.length - 1)];
  choosePlace(code, place, pane);
  if (place) pane.list.reveal(pane.places.indexOf(place));
}

function sourcePane(code, texts, machine) {
  const names = code.one.code.sources;
  const linked = (name) => machine.filter((place) => place.startsWith(`${name}:`)).length;
  const first = Math.max(0, names.findIndex((name) => code.one.file.endsWith(name)), names.reduce((best, name, at) => (linked(name) > linked(names[best]) ? at : best), 0));
  let shown = first;
  const shares = lineShares(code.one);
  const placesOf = (at) => texts[at].map((_, line) => `${names[at]}:${line + 1}`);
  const cells = (line) => {
    const share = shares.get(`${names[shown]}:${line + 1}`);
    return [el("span", { class: "number" }, String(line + 1)), shares.size ? el("span", { class: "share", title: "of the time" }, share ? percent(share) : "") : "", texts[shown][line]];
  };
  const choice = names.length > 1 ? el("select", { "aria-label": "Source file" }, names.map((name, at) => el("option", { value: at, selected: at === first }, name))) : el("span", { class: "muted" }, names[0]);
  const pane = codePane(code, "source", "Source", placesOf(first), cells, () => longest(texts[shown]) + 12, choice);
  choice.addEventListener?.("change", (event) => {
    shown = Number(event.target.value);
    pane.places.splice(0, pane.places.length, ...placesOf(shown));
    pane.list.resize(pane.places.length);
  });
  return pane;
}

// Shares of the estimated time by place, empty without an estimate.
function lineShares(one) {
  const times = timesOf(one) ?? new Map();
  const shares = new Map();
  for (const row of one.graph.rows) {
    const share = times.get(row.address);
    if (share && row.source) shares.set(placeOf(row.source), (shares.get(placeOf(row.source)) ?? 0) + share);
  }
  return shares;
}

// Machine code, with the columns of the listing of a block.
function machinePane(code, places) {
  const { one, view } = code;
  const rows = one.graph.rows;
  const columns = listingColumns(one, rows).filter(({ title }) => title !== "line"); // it stands in the pane beside it
  const sizes = columns.map(({ title, text }) => (text ? Math.max(title.length, rows.reduce((most, row) => Math.max(most, text(row).length), 0)) : 1));
  const width = `${sizes.map((size, at) => (at === columns.length - 1 ? "max-content" : `${size + 1}ch`)).join(" ")}`;
  const head = el("div", { class: "line titles" }, columns.map(({ title, tip, numeric }) => el("span", { title: tip, class: numeric ? "right" : "" }, title)));
  const link = (row) => {
    const block = view.blockAt(`0x${row.address}`);
    return block ? button(row.address, () => view.select(block, true), { class: "link", title: "show the block" }) : row.address;
  };
  const shown = (row, { cell, title }) => (title === "address" ? link(row) : cell(row));
  const cells = (at) => columns.map((column) => el("span", { class: column.numeric ? "right" : "" }, shown(rows[at], column)));
  const pane = codePane(code, "machine", one.code.ptx.length || !one.arch.startsWith("ptx") ? "Machine code" : "PTX", places, cells, () => sizes.reduce((sum, size) => sum + size + 1, 0), "", width);
  pane.list.element.prepend(head);
  return pane;
}
