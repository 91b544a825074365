// The estimate of a launch: what it is bound by, how busy each resource is, and where the time goes.

// Shares of the time by address, null without an estimate.
function timesOf(one) {
  if (!one.estimate) return null;
  const times = new Map();
  for (const { address, share } of one.estimate.stalls) times.set(address.replace(/^0x/, ""), (times.get(address.replace(/^0x/, "")) ?? 0) + share);
  return times;
}

function estimatePanel(one, view) {
  const known = one.estimate;
  if (!known) return "";
  const head = `${known.us.toFixed(2)} us (${number(Math.round(known.cycles))} cycles) on ${known.gpu}; bound by ${known.bound_by}. ` +
    `Achieved occupancy ${percent(known.occupancy)}; ${percent(known.assumed)} of the time rests on assumed figures. Executions: ${known.counts}.`;
  return panel(
    "Estimate: what to expect, no bound",
    "estimate",
    el("p", {}, head),
    el("div", { class: "split even" }, el("div", {}, el("h4", {}, "Busy or waiting"), bars(known)), el("div", {}, el("h4", {}, "Time by instruction"), hottestRows(one, view))),
    timelineOf(known),
    sourceTimes(one),
  );
}

const WAITING = new Set(["latency", "barrier", "tail", "launch"]);

function bar(share, name = "") {
  const filled = el("span", { class: `bar ${name}` });
  filled.style.setProperty("--share", `${Math.min(100, 100 * share).toFixed(1)}%`);
  return filled;
}

function bars(known) {
  const shares = Object.entries(known.shares).filter(([, share]) => share >= 0.005).sort((a, b) => b[1] - a[1]);
  const rows = shares.map(([name, share]) => [name === known.bound_by ? el("b", {}, name) : name, bar(share, WAITING.has(name) ? "waits" : ""), percent(share)]);
  return table([["resource"], ["of the time"], ["", true]], rows, { class: "bars" });
}

const ROWS_SHOWN = 12;

function hottestRows(one, view) {
  const known = [...one.estimate.stalls].sort((a, b) => b.share - a.share).slice(0, ROWS_SHOWN);
  const rows = known.map(({ address: at, reason, share }) => {
    const row = one.graph.rows.find((other) => `0x${other.address}` === at);
    const block = view.blockAt(at);
    const link = block ? button(at, () => view.select(block, true), { class: "link", title: "show the block" }) : address(at);
    return [link, row ? placeOf(row.source) : "", row ? row.text : "", reason.replaceAll("_", " "), bar(share), percent(share)];
  });
  const head = [["address"], ["line", false, "source line"], ["instruction"], ["waits for", false, "the stall reasons of Nsight Compute"], ["of the time"], ["", true]];
  const kept = head.map((_, at) => at).filter((at) => at !== 1 || rows.some((cells) => cells[at]));
  return table(kept.map((at) => head[at]), rows.map((cells) => kept.map((at) => cells[at])), { class: "bars listing hottest" });
}

// Time per source line, with the machine code of each.
function sourceTimes(one) {
  const times = timesOf(one);
  const lines = new Map();
  for (const row of one.graph.rows) {
    if (!row.source) continue;
    const line = lines.get(row.source) ?? { share: 0, rows: [] };
    line.share += times.get(row.address) ?? 0;
    line.rows.push(row);
    lines.set(row.source, line);
  }
  if (!lines.size) return "";
  const place = (source) => source.split(/[\\/]/).pop();
  const order = ([a], [b]) => place(a).localeCompare(place(b), "en", { numeric: true });
  const rows = [...lines].sort(order).map(([source, line]) => {
    const code = () => table([["address"], ["of the time"], ["", true], ["instruction"]], line.rows.map((row) => [row.address, bar(times.get(row.address) ?? 0), percent(times.get(row.address) ?? 0), row.text]), { class: "bars listing" });
    const box = el("details", { ontoggle: () => box.childElementCount > 1 || box.append(code()) }, el("summary", {}, many(line.rows.length, "instruction")));
    return [el("code", { title: source }, place(source)), bar(line.share), percent(line.share), box];
  });
  return [el("h4", {}, "Time by source line"), table([["source line"], ["of the time"], ["", true], ["machine code"]], rows, { class: "bars" })];
}
