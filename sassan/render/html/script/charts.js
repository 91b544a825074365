// Schedules as Gantt charts, and how the bounds of a makespan moved while engines searched.

const CELL = 13;
const ROW = 17;
const LANE = 24; // below the warps
const LEFT = 44;
const HEIGHT_AT_ONCE = 1200;
const LETTERS_FROM = 9; // pixels of a slot

function makespanPanel(one) {
  const found = one.search;
  if (!found) return "";
  const engines = found.engines.map((engine) => [engine.name, number(engine.lower), number(engine.upper), engine.seconds.toFixed(3), engine.proof]);
  return panel(
    "Makespan",
    "makespan",
    found.cycles ? el("p", {}, found.cycles) : "",
    el("p", {}, el("strong", {}, found.verdict), found.label ? ` ${found.label}.` : ""),
    el("p", { class: "muted" }, found.units),
    found.chart ? gantt(found.chart) : el("p", {}, `No schedule is shown: ${found.why}.`),
    el("div", { class: "beside" }, found.trace.length ? convergence(found.trace) : "", engines.length ? table([["engine"], ["lower", true], ["upper", true], ["seconds", true], ["proof, or note"]], engines) : ""),
    found.assumptions.length ? [el("h4", {}, "Assumptions"), items(backed(found))] : "",
  );
}

const IDLE = { ".": "waits", "~": "result", "|": "barrier" };
const word = (mark) => IDLE[mark] ?? mark;

function gantt(chart) {
  const figure = el("figure", { class: "gantt" });
  const present = new Set(chart.rows.flat().map(([, , mark]) => mark));
  const legend = PAGE.legend.units.filter(({ mark }) => present.has(mark)).map(({ mark, means }) => el("li", {}, el("span", { class: `chip unit-${word(mark)}` }, mark), means));
  const lowest = el("li", {}, el("span", { class: "chip running" }, "\u00a0"), "warps running (lowest row)");
  const head = el("figcaption", {}, el("ul", { class: "legend" }, legend, lowest));
  const overview = chart.shown > OVERVIEW_FROM ? chartOverview(chart, figure) : null;
  const top = [head, ...(overview?.parts ?? [])];
  let whole = !overview;
  const all = button(`Show all ${many(chart.shown, "slot")} below each other`, () => {
    whole = true;
    draw();
  });
  const draw = () => {
    overview?.show();
    figure.replaceChildren(...top, ...(whole ? bands(chart, figure, top.length) : [all]));
  };
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(figure);
  return figure;
}

// As many slots side by side as fit; the rest in bands below.
function bands(chart, figure, above) {
  const width = figure.clientWidth || 900;
  const slots = Math.max(20, Math.floor((width - LEFT - 8) / CELL / 10) * 10);
  // A short schedule is drawn larger.
  const cell = chart.shown < slots ? Math.min(MOST_CELL, Math.floor((width - LEFT - 8) / chart.shown)) : CELL;
  if (figure.slots === slots && figure.cell === cell) return [...figure.children].slice(above);
  Object.assign(figure, { slots, cell });
  const count = Math.ceil(chart.shown / slots);
  const batch = Math.max(2, Math.floor(HEIGHT_AT_ONCE / (ROW * chart.rows.length + LANE + 28)));
  return some(chart, slots, 0, batch, count, cell);
}

// Some bands, and a button for the next ones; at the end, a note about slots that the page does not contain.
function some(chart, slots, first, batch, count, cell) {
  const last = Math.min(first + batch, count);
  const drawn = Array.from({ length: last - first }, (_, at) => band(chart, (first + at) * slots, slots, cell));
  if (last < count) {
    const text = `Show more: ${number(last * slots)} of ${many(chart.slots, "slot")} are shown`;
    const more = button(text, () => more.replaceWith(...some(chart, slots, last, 4 * batch, count, cell)));
    return [...drawn, more];
  }
  if (chart.shown === chart.slots) return drawn;
  return [...drawn, el("p", { class: "muted" }, `These are the first ${number(chart.shown)} of ${many(chart.slots, "slot")}; sassan makespan --json has all of them.`)];
}

function band(chart, start, slots, cell = CELL) {
  const end = Math.min(start + slots, chart.shown);
  const width = LEFT + cell * (end - start) + 6;
  const bottom = 20 + ROW * chart.rows.length;
  const height = bottom + LANE;
  const rows = chart.rows.map((row, warp) => [
    svg("text", { class: "warp", x: LEFT - 6, y: 20 + ROW * warp + 12 }, `w${warp}`),
    row.filter(([from, count]) => from < end && from + count > start).map((run) => cells(run, start, end, 20 + ROW * warp, cell)),
  ]);
  const label = `slots ${start + 1} to ${end} of ${many(chart.rows.length, "warp")}`;
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "band" }, axis(start, end, bottom, cell), rows, lane(chart, start, end, height, cell));
}

// How many warps run in each slot, as a part of the most that do in any.
function lane(chart, start, end, bottom, cell) {
  const running = (chart.running ??= countRunning(chart));
  const most = running.reduce((one, other) => Math.max(one, other), 1);
  const y = (slot) => bottom - 1 - ((LANE - 6) * running[slot]) / most;
  const tops = Array.from({ length: end - start }, (_, at) => `V${y(start + at)}H${LEFT + cell * (at + 1)}`).join("");
  const area = svg("path", { class: "running", d: `M${LEFT} ${bottom - 1}${tops}V${bottom - 1}Z` }, svg("title", {}, `how many warps run: at most ${number(most)} of ${number(chart.rows.length)}`));
  return [svg("text", { class: "warp", x: LEFT - 6, y: bottom - 4 }, `of ${number(most)}`), area];
}

function countRunning(chart) {
  const running = new Array(chart.shown).fill(0);
  for (const [from, count, mark] of chart.rows.flat()) if (!(mark in IDLE)) for (let slot = from; slot < from + count; slot += 1) running[slot] += 1;
  return running;
}

function axis(start, end, height, cell) {
  const apart = cell < LETTERS_FROM ? 50 : 10;
  const ticks = [];
  for (let slot = start + 1; slot <= end; slot += 1) {
    if (slot !== start + 1 && slot % apart) continue;
    const x = LEFT + cell * (slot - start - 1) + cell / 2;
    ticks.push(svg("text", { class: "tick", x, y: 12 }, number(slot)), svg("path", { class: "grid", d: `M${x} 15V${height}` }));
  }
  return ticks;
}

function cells([from, count, mark], start, end, y, cell) {
  const a = Math.max(from, start);
  const b = Math.min(from + count, end);
  const x = LEFT + cell * (a - start);
  const places = Array.from({ length: b - a }, (_, at) => x + cell * at + cell / 2).join(" ");
  return [
    svg("rect", { class: `cell unit-${word(mark)}`, x, y: y + 1, width: cell * (b - a), height: ROW - 2 }),
    cell < LETTERS_FROM ? "" : svg("text", { class: `mark mark-${word(mark)}`, x: places, y: y + 12 }, mark.repeat(b - a)),
  ];
}

const CURVE = { width: 640, height: 180, left: 56, right: 12, top: 12, bottom: 30 };

function convergence(trace) {
  const values = trace.flatMap(([, lower, upper]) => [lower, upper]).filter((one) => one !== null);
  if (!values.length || trace.length < 2) return "";
  const scale = scales(trace, values);
  const lines = [
    svg("path", { class: "upper", d: steps(trace, 2, scale) }),
    svg("path", { class: "lower", d: steps(trace, 1, scale) }),
  ];
  const last = trace.at(-1);
  const caption = `upper bound (dashed) and longest schedule (solid) in slots, over ${last[0].toFixed(2)} seconds`;
  const { width, height } = CURVE;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `convergence: ${caption}`, class: "curve" }, curveAxes(scale), lines);
  return el("figure", { class: "convergence" }, el("h4", {}, "Convergence"), drawing, el("figcaption", { class: "muted" }, caption));
}

function scales(trace, values) {
  const { width, height, left, right, top, bottom } = CURVE;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = Math.max(1, (high - low) * 0.1);
  const [from, to] = [Math.max(0, low - margin), high + margin];
  const seconds = Math.max(trace.at(-1)[0], 1e-3);
  return {
    from,
    to,
    seconds,
    values: [low, high, ...trace.at(-1).slice(1).filter((one) => one !== null)],
    x: (t) => left + (t / seconds) * (width - left - right),
    y: (v) => height - bottom - ((v - from) / (to - from)) * (height - top - bottom),
  };
}

function steps(trace, at, { x, y }) {
  let path = "";
  for (const row of trace) {
    if (row[at] === null) continue;
    path += path ? `H${x(row[0]).toFixed(1)}V${y(row[at]).toFixed(1)}` : `M${x(row[0]).toFixed(1)} ${y(row[at]).toFixed(1)}`;
  }
  return path;
}

function curveAxes({ x, y, values, seconds }) {
  const { width, height, left, right, bottom } = CURVE;
  // A number is omitted where it would overlap another one.
  const apart = values.filter((value, at) => values.slice(0, at).every((other) => Math.abs(y(other) - y(value)) > 11));
  const marks = apart.map((value) => [
    svg("path", { class: "grid", d: `M${left} ${y(value)}H${width - right}` }),
    svg("text", { class: "tick end", x: left - 6, y: y(value) + 4 }, number(value)),
  ]);
  const times = [0, seconds / 2, seconds].map((t, at) => svg("text", { class: at === 2 ? "tick end" : "tick", x: x(t), y: height - 10 }, `${t.toPrecision(2)} s`));
  return [svg("path", { class: "axis", d: `M${left} 8V${height - bottom}H${width - right}` }), marks, times];
}
