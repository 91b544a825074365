// All functions in one table, after the refused inputs and the functions without a bound.

const COLUMNS = [
  ["name", "function", false],
  ["arch", "arch", false],
  ["instructions", "instructions", true],
  ["blocks", "blocks", true],
  ["loops", "loops", true],
  ["divergent_branches", "divergent", true, "branches at which the warp may diverge"],
  ["reactivation_edges", "reconv.", true, "reconvergence: edges on which the suspended side of a divergence is resumed"],
  ["wcet", "WCET", true, "worst-case execution time: upper bound for one warp alone, in cycles (in instructions with the unit model)"],
  ["makespan", "makespan", true, "upper bound of the warps on one SM, in cycles"],
  ["gap_count", "gaps", true],
];

const launched = FUNCTIONS.some((one) => one.warps !== null);
const columns = COLUMNS.filter(([key]) => key !== "makespan" || launched);

function overview() {
  return [
    el("h2", {}, PAGE.title),
    refusedPanel(PAGE.refused),
    gapsOverview(),
    sequencePanel(),
    el("dl", { class: "tiles" }, FUNCTIONS.length ? totals() : tile("functions", "0", "nothing was analyzed", "bad")),
    ...(SEQUENCE ? [functionsPanel(), certificate() || assumptionsOverview()] : [assumptionsOverview(), functionsPanel()]),
  ];
}

const functionsPanel = () => (FUNCTIONS.length ? el("section", { class: "panel" }, el("h3", {}, "Functions"), el("div", { class: "scroll" }, overviewTable())) : "");

function totals() {
  const archs = new Set(FUNCTIONS.map((one) => one.arch));
  const bounded = FUNCTIONS.filter((one) => one.wcet !== null);
  const largest = bounded.length ? bounded.reduce((a, b) => (b.wcet > a.wcet ? b : a)) : null;
  return [
    tile("functions", number(FUNCTIONS.length), `in ${many(new Set(FUNCTIONS.map((one) => one.file)).size, "file")}`),
    boundedTile(bounded.length),
    tile("architectures", number(archs.size), [...archs].join(", ")),
    tile("instructions", number(FUNCTIONS.reduce((sum, one) => sum + one.instructions, 0))),
    largest ? tile("largest WCET", number(largest.wcet), named(largest)) : "",
  ];
}

// Green only if every function has a bound.
function boundedTile(count) {
  const gaps = FUNCTIONS.filter((one) => one.gap_count).length;
  const without = FUNCTIONS.length - gaps - count;
  const missing = [
    gaps ? `${many(gaps, "function")} with gaps` : "",
    without ? `${number(without)} without a bound` : "",
    PAGE.refused.length ? `${many(PAGE.refused.length, "input")} refused` : "",
  ].filter(Boolean);
  return tile("bounded", number(count), missing.join(", ") || "no gaps", missing.length ? "bad" : "good");
}

function refusedPanel(refused) {
  if (!refused.length) return "";
  const place = (one) => (one.line ? `${one.file}:${one.line}` : one.file);
  const lines = refused.map((one) => el("li", {}, el("b", {}, place(one)), ` ${one.code}: ${one.message}`, one.hint ? el("small", {}, ` hint: ${one.hint}`) : ""));
  const kept = FUNCTIONS.some((other) => refused.some((one) => one.file === other.file));
  const note = kept && PAGE.version !== null ? el("p", { class: "muted" }, "What is shown of it is from before.") : "";
  return panel(`${many(refused.length, "input")} refused, and not analyzed`, "gaps", el("ul", {}, lines), note);
}

function gapsOverview() {
  const without = FUNCTIONS.filter((one) => one.gap_count);
  if (!without.length) return "";
  const codes = new Map();
  for (const one of without) for (const code of one.gaps) codes.set(code, (codes.get(code) ?? 0) + 1);
  const rows = [...codes].sort().map(([code, count]) => button(`${code}: ${many(count, "function")}`, () => search(code), { class: "code" }));
  return panel(`${number(without.length)} of ${many(FUNCTIONS.length, "function")} with gaps: these have no bound`, "gaps", el("p", { class: "codes" }, rows));
}

function assumptionsOverview() {
  const users = new Map();
  for (const one of FUNCTIONS) for (const text of backed(one)) users.set(text, [...(users.get(text) ?? []), named(one)]);
  if (!users.size) return "";
  const bounded = FUNCTIONS.filter((one) => one.assumptions.length).length;
  const all = [...users].map(([text, names]) => ({ names, text: names.length === bounded ? text : `${text} (${names.length === 1 ? names[0] : many(names.length, "function")})` }));
  const [common, single] = [all.filter((one) => one.names.length > 1 || bounded === 1), all.filter((one) => one.names.length === 1 && bounded > 1)];
  const texts = (some) => items(some.map((one) => one.text));
  const rest = single.length ? el("details", {}, el("summary", {}, `${many(single.length, "more assumption")} of single functions, shown with each function`), texts(single)) : "";
  return panel("Assumptions: every bound holds under these", "assumptions", texts(common), rest);
}

function overviewTable() {
  const head = columns.map(([key, title, numeric, tip]) =>
    el("th", { scope: "col", class: numeric ? "number" : "", title: tip, "aria-sort": sortState(key) }, button(title, () => sortAgain(key), { class: "head" })),
  );
  const rows = listing.shown.slice(0, rowsShown).map((one) => el("tr", {}, columns.map(([key, , numeric]) => el("td", { class: numeric ? "number" : "" }, cell(one, key)))));
  return el("table", { id: "all" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows), moreRows());
}

// A long table takes seconds to lay out.
let rowsShown = 300;

function moreRows() {
  const left = listing.shown.length - rowsShown;
  if (left <= 0) return "";
  const more = button(`Show ${number(left)} more`, () => {
    rowsShown = Infinity;
    refreshOverview();
  });
  return el("tfoot", {}, el("tr", {}, el("td", { colspan: columns.length }, more)));
}

function cell(one, key) {
  if (key === "name") return [el("a", { href: `#k${one.at}`, class: "name", title: `${one.name}\n${one.file}` }, one.head), where(one)];
  if (key === "wcet" && one.wcet === null) return el("span", { class: "gap" }, one.status === "experiment" ? "experiment" : "none");
  if (key === "gap_count" && one.gap_count) return el("span", { class: "gap", title: one.gaps.join(", ") }, number(one.gap_count));
  return typeof one[key] === "number" || one[key] === null ? number(one[key]) : one[key];
}

const sortState = (key) => (listing.order === key ? (listing.down ? "descending" : "ascending") : null);

function refreshOverview() {
  const old = byId("all");
  if (!old) return;
  const key = document.activeElement?.closest?.("#all th")?.cellIndex;
  const fresh = overviewTable();
  old.replaceWith(fresh);
  if (key !== undefined) fresh.querySelectorAll("th button")[key].focus();
}
