// One SM over time: how busy each scheduler, each unit and the memory are, and how many warps it holds.

const STRIP = { height: 22, left: 92, right: 64, axis: 18 };

function timelineOf(known) {
  const time = known.timeline;
  const most = Math.max(1, ...time.warps);
  const strips = [["warps", time.warps.map((one) => one / most), `${many(most, "warp")}`]];
  for (const [name, shares] of Object.entries(time.busy)) {
    const mean = shares.reduce((sum, one) => sum + one, 0) / shares.length;
    if (mean >= 0.005) strips.push([name, shares, percent(mean)]);
  }
  const label = `One SM over ${number(time.width * time.warps.length)} simulated cycles: its warps, and how busy its schedulers, its units and its share of the memory are`;
  const note = `${many(time.blocks, "block")} of the SM simulated, in pieces of ${many(time.width, "cycle")}; iterations of long loops are cut short. On the right: the most warps, and the mean of the time.`;
  return el("figure", { class: "timeline" }, el("h4", {}, "One SM over time"), strip(strips, time, label), el("figcaption", { class: "muted" }, note));
}

// Strips below each other, as wide as the window of the drawing: 1,000 units.
function strip(strips, time, label) {
  const { height, left, right, axis } = STRIP;
  const [width, bottom] = [1000, height * strips.length];
  const x = (piece) => left + (piece / time.warps.length) * (width - left - right);
  const rows = strips.map(([name, shares, says], at) => {
    const base = height * (at + 1) - 2;
    const y = (share) => (base - share * (height - 5)).toFixed(1);
    const area = shares.map((share, piece) => `V${y(share)}H${x(piece + 1).toFixed(1)}`).join("");
    return [
      svg("text", { class: "tick end", x: left - 6, y: base - 5 }, name),
      svg("path", { class: name === "warps" ? "area warps" : "area", d: `M${left} ${base}${area}V${base}Z` }, svg("title", {}, `${name}: ${says}`)),
      svg("path", { class: "axis", d: `M${left} ${base}H${width - right}` }),
      svg("text", { class: "start", x: width - right + 6, y: base - 5 }, says),
    ];
  });
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => svg("text", { class: "tick", x: x(part * time.warps.length), y: bottom + axis - 4 }, number(Math.round(part * time.warps.length * time.width))));
  return svg("svg", { viewBox: `0 0 ${width} ${bottom + axis}`, role: "img", "aria-label": label }, rows, marks);
}
