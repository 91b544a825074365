// All of a schedule in one strip, and the part of it that is chosen there, at any zoom.

const OVERVIEW_FROM = 100; // slots
const [LEAST_CELL, MOST_CELL] = [2, 26];

function chartOverview(chart, figure) {
  const runs = chart.rows.flatMap((row, warp) => row.filter(([, , mark]) => mark !== ".").map(([x, width, mark]) => svg("rect", { class: `cell unit-${mark}`, x, y: warp + 0.1, width, height: 0.8 })));
  const part = svg("rect", { class: "window", y: 0, height: chart.rows.length });
  const label = `all ${many(chart.shown, "slot")} of ${many(chart.rows.length, "warp")}; a click, or the arrow keys, choose a part`;
  const strip = svg("svg", { class: "overview", viewBox: `0 0 ${chart.shown} ${chart.rows.length}`, preserveAspectRatio: "none", role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": 1, "aria-valuemax": chart.shown, "aria-valuenow": 1 }, runs, part);
  strip.style.height = `${Math.min(160, Math.max(40, 3 * chart.rows.length))}px`;
  const lens = el("div", { class: "lens" });
  let [cell, middle, slots] = [CELL, 0, 0];
  const show = () => {
    slots = Math.min(chart.shown, Math.max(10, Math.floor(((figure.clientWidth || 900) - LEFT - 8) / cell)));
    const start = Math.round(Math.max(0, Math.min(middle - slots / 2, chart.shown - slots)));
    for (const [name, value] of Object.entries({ x: start, width: slots })) part.setAttribute(name, value);
    strip.setAttribute("aria-valuenow", start + 1);
    lens.replaceChildren(el("span", { class: "tools" }, zooms, `slots ${number(start + 1)} to ${number(start + slots)}; a click in the strip above chooses others`), band(chart, start, slots, cell));
  };
  const zoom = (factor) => {
    cell = Math.min(MOST_CELL, Math.max(LEAST_CELL, cell * factor));
    show();
  };
  const zooms = [button("\u2212", () => zoom(0.5), { "aria-label": "zoom out of the schedule" }), button("+", () => zoom(2), { "aria-label": "zoom into the schedule" })];
  const go = (to) => {
    middle = Math.max(0, Math.min(to, chart.shown));
    show();
  };
  const follow = (event) => {
    const { left, width } = strip.getBoundingClientRect();
    if (event.buttons) go(((event.clientX - left) / width) * chart.shown);
  };
  strip.addEventListener("pointerdown", follow);
  strip.addEventListener("pointermove", follow);
  strip.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -0.25, ArrowRight: 0.25 }[event.key];
    if (!step) return;
    event.preventDefault();
    go((middle || slots / 2) + step * slots);
  });
  return { parts: [strip, lens], show };
}
