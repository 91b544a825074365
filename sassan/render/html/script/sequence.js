// The recorded launches of a program: their times, the sum, a deadline, and what the sum rests on.

const SEQUENCE = PAGE.sequence;
const LAUNCHES_SHOWN = 200;
const BY_KIND = [
  ["assumed", "unverified: what you give, what no source says, and how hardware is taken to behave"],
  ["recorded", "the recording of the program: these hold for the data of that run only"],
  ["published", "a publication of the vendor or of others, which a table names"],
  ["checked", "a check on this input, which would have failed"],
  ["proved", "a proof, from the others"],
];

const timed = () => SEQUENCE.launches.some((one) => one.us !== null);
const times = (count, value) => (value === null ? null : count * value);

function sequencePanel() {
  if (!SEQUENCE) return "";
  const head = `${many(SEQUENCE.total, "launch", "launches")}${SEQUENCE.program ? ` of ${SEQUENCE.program}` : ""}, one after the other`;
  const cut = SEQUENCE.cut ? el("p", { class: "gap" }, `The recording was cut off ${SEQUENCE.cut}: later launches are missing, and no sum is one of the program.`) : "";
  return panel(`Sequence: ${head}`, "sequence", el("dl", { class: "tiles" }, sumTiles()), cut, launchTable());
}

function sumTiles() {
  const without = SEQUENCE.total - SEQUENCE.bounded;
  const missing = `${many(without, "launch", "launches")} without a bound`;
  const [value, unit] = timed() ? [bound(SEQUENCE.us), "us"] : [number(SEQUENCE.cycles), "cycles"];
  return [
    without ? tile("bound of the sum", "none", missing, "bad") : tile("bound of the sum", `${value} ${unit}`, "at most, under the assumptions below", "main"),
    SEQUENCE.estimated ? tile("estimate of the sum", SEQUENCE.estimate_us === null ? "none" : `${expected(SEQUENCE.estimate_us)} us`, SEQUENCE.estimate_us === null ? `${many(SEQUENCE.total - SEQUENCE.estimated, "launch", "launches")} without an estimate` : "what to expect, no bound") : "",
    deadlineTile(missing),
  ];
}

// The deadline is met where the bound of the sum is not above it; an estimate meets none.
function deadlineTile(missing) {
  const [deadline, sum] = [SEQUENCE.deadline_us, SEQUENCE.us];
  if (deadline === null) return "";
  const name = `deadline ${expected(deadline)} us`;
  if (sum === null) return tile(name, "not shown", SEQUENCE.bounded < SEQUENCE.total ? missing : "no time is known: give a GPU", "bad");
  if (SEQUENCE.cut) return tile(name, "not shown", "the recording was cut off", "bad");
  return sum <= deadline ? tile(name, "met", `${expected(Math.floor(100 * (deadline - sum)) / 100)} us left by the bound`, "good") : tile(name, "missed", `by ${bound(sum - deadline)} us in the bound`, "bad");
}

const shape = (extents) => (extents === null ? NONE : extents.join(" \u00d7 "));

function launchColumns() {
  const several = SEQUENCE.launches.some((one) => one.count > 1);
  const value = timed() ? (one) => one.us : (one) => one.cycles;
  const text = timed() ? bound : number;
  const unit = timed() ? "us" : "cycles";
  const whole = timed() ? SEQUENCE.us : SEQUENCE.cycles;
  const columns = [
    { title: "", cell: (one) => number(SEQUENCE.launches.indexOf(one) + 1), numeric: true, tip: "place in the program" },
    { title: "kernel", cell: (one) => (one.function === null ? el("code", {}, one.shown) : el("a", { href: `#k${one.function}`, class: "name", title: one.kernel }, one.shown)), foot: "sum" },
    { title: "grid", cell: (one) => shape(one.grid), numeric: true },
    { title: "block", cell: (one) => shape(one.block), numeric: true },
    SEQUENCE.launches.some((one) => one.shared) && { title: "shared", cell: (one) => number(one.shared), numeric: true, tip: "dynamic shared memory of a block, in bytes" },
    several && { title: "count", cell: (one) => number(one.count), numeric: true, tip: "equal launches in a row", foot: number(SEQUENCE.total) },
    { title: `bound, ${unit}`, cell: (one) => text(value(one)), numeric: true, tip: "of one launch: upper bound of the whole grid", foot: several ? "" : text(whole) },
    several && { title: "all", cell: (one) => text(times(one.count, value(one))), numeric: true, tip: "of all these launches", foot: text(whole) },
    whole && { title: "of the sum", cell: (one) => bar(times(one.count, value(one)) / whole) },
    whole && { title: "", cell: (one) => percent(times(one.count, value(one)) / whole), numeric: true },
    SEQUENCE.estimated && { title: "estimate, us", cell: (one) => expected(one.estimate_us), numeric: true, tip: "of one launch: what to expect, no bound", foot: several ? "" : expected(SEQUENCE.estimate_us) },
    SEQUENCE.estimated && several && { title: "all", cell: (one) => expected(times(one.count, one.estimate_us)), numeric: true, tip: "of all these launches", foot: expected(SEQUENCE.estimate_us) },
    SEQUENCE.estimated && { title: "bound by", cell: (one) => one.bound_by ?? "", tip: "the resource that the estimate names" },
    SEQUENCE.launches.some((one) => one.gaps.length) && { title: "gaps", cell: (one) => el("span", { class: "gap" }, one.gaps.join(", ")) },
  ];
  return columns.filter(Boolean);
}

function launchTable() {
  const columns = launchColumns();
  const row = (one) => el("tr", {}, columns.map(({ cell, numeric }) => el("td", { class: numeric ? "number" : "" }, cell(one))));
  const head = columns.map(({ title, numeric, tip }) => el("th", { scope: "col", class: numeric ? "number" : "", title: tip }, title));
  const foot = el("tr", {}, columns.map(({ foot, numeric }) => el("td", { class: numeric ? "number" : "" }, foot ?? "")));
  const body = el("tbody", {}, SEQUENCE.launches.slice(0, LAUNCHES_SHOWN).map(row));
  const left = SEQUENCE.launches.length - LAUNCHES_SHOWN;
  const more = button(`Show ${number(left)} more`, () => {
    body.append(...SEQUENCE.launches.slice(LAUNCHES_SHOWN).map(row));
    more.remove();
  });
  return [el("div", { class: "scroll" }, el("table", { id: "launches", class: "bars" }, el("thead", {}, el("tr", {}, head)), body, el("tfoot", {}, foot))), left > 0 ? more : ""];
}

// What the sum of the bounds rests on, by status; the unverified part is open.
function certificate() {
  const known = SEQUENCE?.assumptions ?? [];
  if (!known.length) return "";
  const kinds = BY_KIND.map(([kind, means]) => [kind, means, known.filter((one) => one.kind === kind)]).filter(([, , some]) => some.length);
  const counts = kinds.map(([kind, , some]) => `${number(some.length)} ${kind}`).join(", ");
  const text = (one) => (one.kernels.length ? `${one.text} (${one.kernels.join(", ")})` : one.text);
  const made = [toolName(), SEQUENCE.file && `launches of ${SEQUENCE.file}`, ...SEQUENCE.notes].filter(Boolean);
  return panel(
    `Certificate: the bound of the sum holds under ${many(known.length, "assumption")} (${counts})`,
    "assumptions",
    el("p", { class: "muted" }, made.join(" \u00b7 ")),
    kinds.map(([kind, means, some]) => el("details", { open: kind === "assumed" }, el("summary", {}, `${number(some.length)} ${kind}`, el("span", {}, `: ${means}`)), items(some.map(text)))),
  );
}
