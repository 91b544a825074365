// The drawing of a graph: blocks, edges, boxes. The layout was computed before; the style is added here.

const CHARACTER_LINE = 14;
const LONG_EDGE = 3000; // points; the dashes of longer edges are too many for a browser: hundreds of them took seconds per frame
const LEAST_SHARE = 0.01; // blocks below it fade in the heat map
const ARROWS = {
  vee: "M0,0 L10,5 L0,10 L3,5 Z",
  normal: "M0,0 L10,5 L0,10 Z",
  onormal: "M1,1 L9,5 L1,9 Z",
  box: "M1,1 H9 V9 H1 Z",
  obox: "M1,1 H9 V9 H1 Z",
  tee: "M7,0 H10 V10 H7 Z",
  odiamond: "M0,5 L5,1 L10,5 L5,9 Z",
  dot: "M1,5 A4,4 0 1 1 9,5 A4,4 0 1 1 1,5 Z",
};
const OPEN = new Set(["onormal", "obox", "odiamond"]);

function marker(kind, name, end) {
  const shape = svg("path", { d: ARROWS[name], class: `marker kind-${kind} ${OPEN.has(name) ? "open" : ""}` });
  const at = { id: `${end}-${kind}`, viewBox: "-1 -1 12 12", refX: end === "head" ? 10 : 0, refY: 5, markerWidth: 11, markerHeight: 11 };
  return svg("marker", { ...at, markerUnits: "userSpaceOnUse", orient: "auto" }, shape);
}

function markers() {
  const kinds = PAGE.legend.kinds.flatMap(({ kind, head, tail }) => [marker(kind, head, "head"), tail === "none" ? "" : marker(kind, tail, "tail")]);
  return svg("defs", {}, kinds, marker("fallthrough", "vee", "entry"));
}

// A tip, a Bézier curve, a tip: straight pieces lie below the arrow heads.
function pathOf(points) {
  if (points.length < 4) return `M${points.join(" L")}`;
  const [first, start, ...rest] = points;
  const last = rest.pop();
  return `M${first} L${start} C${rest.join(" ")} L${last}`;
}

// The sides of the polygon of a path: at least its length.
const lengthOf = (points) => points.slice(1).reduce((sum, [x, y], at) => sum + Math.hypot(x - points[at][0], y - points[at][1]), 0);

function drawEdge(edge) {
  if (!edge.path.length) return "";
  const look = PAGE.legend.kinds.find((one) => one.kind === edge.kind);
  const times = edge.count > 1 && edge.label ? svg("text", { class: "times", x: edge.label[0], y: edge.label[1] + 4 }, `\u00d7${number(edge.count)}`) : "";
  const line = svg("path", {
    d: pathOf(edge.path),
    "marker-end": `url(#head-${look ? edge.kind : "fallthrough"})`,
    "marker-start": look && look.tail !== "none" ? `url(#tail-${edge.kind})` : null,
  });
  const tip = svg("title", {}, [look ? look.means : "entry", ...edge.says, edge.count ? `${many(edge.count, "time")} on the worst path` : ""].filter(Boolean).join("\n"));
  const flags = [edge.count ? "worst" : "", lengthOf(edge.path) > LONG_EDGE ? "long" : ""].filter(Boolean).join(" ");
  return svg("g", { class: `edge kind-${look ? edge.kind : "fallthrough"} ${flags}`, "data-src": edge.src, "data-dst": edge.dst }, tip, line, times);
}

function blockName(block) {
  const parts = [`block ${block.start} to ${block.end}`, many(block.instructions, "instruction")];
  if (block.cost !== null) parts.push(`cost ${number(block.cost)}`);
  if (block.count) parts.push(`${many(block.count, "execution")} on the worst path`, `${percent(block.share)} of the WCET`);
  if (block.divergent) parts.push("divergent branch");
  return [...parts, ...block.gaps.map((gap) => `gap ${gap}`)].join(", ");
}

function drawBlock(block, heat, cool) {
  const [x, y, width, height] = block.box;
  const middle = x + width / 2;
  const lines = block.lines.map(([kind, text], at) => svg("text", { class: `line ${kind}`, x: middle, y: y + 17 + at * CHARACTER_LINE }, text));
  const frame = (grow) => svg("rect", { class: grow ? "frame outer" : "frame", x: x - grow, y: y - grow, width: width + 2 * grow, height: height + 2 * grow, rx: 3 });
  const flags = [block.count ? "worst" : "", block.divergent ? "divergent" : "", block.gaps.length ? "troubled" : "", cool && !block.gaps.length ? "cool" : ""].filter(Boolean).join(" ");
  const group = svg(
    "g",
    { class: `block ${flags}`, id: `block-${block.id}`, "data-id": block.id, role: "button", tabindex: "-1", "aria-pressed": "false", "aria-label": blockName(block) },
    block.divergent ? frame(3) : "",
    frame(0),
    lines,
  );
  group.style.setProperty("--heat", `${Math.round(heat * 100)}%`);
  return group;
}

function drawEnd({ name, box: [x, y, width, height] }) {
  const text = name.replace(/_.*/, "");
  return svg(
    "g",
    { class: "end" },
    svg("rect", { class: "frame", x, y, width, height, rx: height / 2 }),
    svg("text", { class: "line", x: x + width / 2, y: y + height / 2 + 4 }, text),
  );
}

function boxText(box, loops, many) {
  if (box.loop === null) return `called from ${box.context.at(-1) ?? ""}`;
  const loop = loops[box.loop];
  if (loop.bound === null) return "loop: no bound";
  return `loop \u2264 ${number(loop.bound)}${many[box.loop] ? " \u00d7 32" : ""}`;
}

function drawBox(box, loops, many) {
  const [x, y, width, height] = box.box;
  const kind = box.loop === null ? "call" : loops[box.loop].bound === null ? "loop unbounded" : "loop";
  return svg("g", { class: `box ${kind}` }, svg("rect", { x, y, width, height, rx: 8 }), svg("text", { x: x + 8, y: y + 14 }, boxText(box, loops, many)));
}

// What the heat map may show, the bound first: shares of the WCET, or what an execution costs where there is no WCET; shares of the estimated time.
function heatsOf(one) {
  const graph = one.graph;
  const shares = graph.blocks.some((block) => block.share !== null);
  const value = (block) => (shares ? block.share : block.cost) ?? 0;
  const bounded = shares ? heat(graph, value, "share of the WCET", percent, true) : heat(graph, value, "cost of one execution", number, false);
  const times = timesOf(one);
  const spent = (block) => block.rows.reduce((sum, at) => sum + (times.get(graph.rows[at].address) ?? 0), 0);
  return [bounded, ...(times ? [heat(graph, spent, "share of the estimated time", percent, true)] : [])].filter(({ most }) => most);
}

function heat(graph, value, what, text, shares) {
  const values = new Map(graph.blocks.map((block) => [block.id, value(block)]));
  const most = Math.max(0, ...values.values());
  return { what, most, of: (block) => (most ? values.get(block.id) / most : 0), cool: (block) => shares && values.get(block.id) < LEAST_SHARE, text: `0 to ${text(most)}${shares ? "; below 1 % faded" : ""}` };
}

const NO_HEAT = { what: "", most: 0, of: () => 0, cool: () => false, text: "" };

function drawGraph(one, heat, graph) {
  const shown = new Set(graph.blocks.filter((block) => block.box).map((block) => block.id));
  const handles = foldable(graph).filter((fold) => fold.members.length > 1 && (fold.box ? fold.members.some((id) => shown.has(id)) : fold.members.every((id) => shown.has(id))));
  const stage = svg(
    "g",
    { class: "stage" },
    graph.boxes.map((box) => drawBox(box, one.loops, graph.many)),
    graph.edges.map(drawEdge),
    graph.ends.map(drawEnd),
    graph.blocks.filter((block) => block.box).map((block) => drawBlock(block, heat.of(block), heat.cool(block))),
    (graph.folds ?? []).map((fold) => drawFold(fold, heat)),
    handles.map((fold) => drawHandle(fold, graph)),
  );
  const label = `warp-level graph of ${many(one.graph.blocks.length, "block")}; arrow keys move from block to block`;
  const drawing = svg("svg", { class: "drawing", viewBox: `-8 -8 ${graph.width + 16} ${graph.height + 16}`, role: "group", "aria-label": label }, markers(), stage);
  return { drawing, stage };
}

function sample(kind) {
  const look = PAGE.legend.kinds.find((one) => one.kind === kind);
  const line = svg("path", { d: "M3,8 H41", "marker-end": `url(#head-${kind})`, "marker-start": look.tail !== "none" ? `url(#tail-${kind})` : null });
  return svg("svg", { width: 44, height: 16, class: `edge kind-${kind}`, "aria-hidden": "true" }, line);
}

function legend(one, heat) {
  const kinds = new Set(one.graph.edges.map((edge) => edge.kind));
  const lines = PAGE.legend.kinds.filter(({ kind }) => kinds.has(kind)).map(({ kind, means }) => el("li", {}, sample(kind), means));
  const swatch = (name, text) => el("li", {}, el("span", { class: `swatch ${name}` }), text);
  const worst = one.graph.blocks.some((block) => block.count);
  return el(
    "ul",
    { class: "legend" },
    lines,
    worst ? swatch("worst", "on a worst path: cost \u00d7 executions, bold edges") : "",
    one.graph.blocks.some((block) => block.divergent) ? swatch("divergent", "\u25c7 divergent branch, double border") : "",
    one.graph.boxes.some((box) => box.loop !== null) ? swatch("loop", one.graph.many.some(Boolean) ? "loop; \u00d7 32: each of the 32 threads may iterate separately" : "loop, with its bound on back edges per entry") : "",
    one.graph.boxes.some((box) => box.loop === null) ? swatch("call", "called code, once per call site") : "",
    one.graph.blocks.some((block) => block.gaps.length) ? swatch("troubled", "gap: not analyzed, or without a bound") : "",
    heat.most ? el("li", { class: "heat-key" }, el("span", { class: "ramp" }), el("span", {}, `${heat.what}: ${heat.text}`)) : "",
  );
}
