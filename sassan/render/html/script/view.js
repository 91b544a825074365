// The graph in its frame: zoom, pan, choice of a block, colours.

const LARGEST_SCALE = 4;
const [LEAST_FIT, LARGEST_FIT] = [0.75, 1.25]; // what does not fit at the least is shown in part, in its natural size
const MAP_WIDTH = 56;
const shownAs = { worst: true, heat: true };

function graphView(one) {
  const heats = heatsOf(one);
  const heat = heats[0] ?? NO_HEAT;
  const drawn = one.graph.blocks.some((block) => block.box);
  const closed = closedAtFirst(one.graph);
  const graph = drawn ? folded(one.graph, closed) : one.graph;
  const { drawing, stage } = drawGraph(one, heat, graph);
  const inspector = el("aside", { id: "block", class: "inspector", "aria-label": "Block", tabindex: "-1" });
  const frame = el("div", { class: "frame-graph" }, drawn ? drawing : el("p", { class: "muted" }, "no drawing"));
  const view = { one, graph, heat, heats, closed, drawing, stage, frame, inspector, k: 1, x: 0, y: 0, chosen: null, map: drawn ? drawMap(graph, heat) : null };
  view.zoom = (factor) => zoomAt(view, factor, centre(view));
  view.fit = () => fit(view);
  view.blockAt = (start, context = null) => blockAt(one.graph, start, context);
  view.select = (id, go = false) => selectBlock(view, id, go);
  if (drawn) listen(view);
  const note = graph.note ? el("p", { class: "note" }, graph.note) : "";
  view.element = el("section", { class: "panel graph", "aria-label": "Warp-level graph" }, graphHead(view, heat, drawn), note, el("div", { class: "split" }, el("figure", {}, frame, el("figcaption", {}, legend(one, heat))), inspector));
  if (drawn) fitFrame(view);
  showLook(view);
  view.start = () => startView(view, drawn);
  state.view = view;
  return view;
}

function graphHead(view, heat, drawn) {
  const toggle = (key, text, tip) =>
    button(text, () => toggleLook(key), { id: `look-${key}`, title: tip, "aria-pressed": String(shownAs[key]) });
  const tools = drawn
    ? [
        view.graph.blocks.some((block) => block.count) ? toggle("worst", "Worst path", "highlight the worst path (w)") : "",
        heat.most ? toggle("heat", view.heats.length > 1 ? "Heat map:" : `Heat map: ${heat.what}`, "colours of blocks (h)") : "",
        view.heats.length > 1 ? heatChoice(view) : "",
        foldable(view.graph).length || view.closed.size ? button("Fold", () => refold(view, foldable(view.one.graph).map((fold) => fold.id)), { title: "loops, calls and equal cases as one block each" }) : "",
        foldable(view.graph).length || view.closed.size ? button("Unfold", () => refold(view, []), { title: "every block by itself" }) : "",
        button("\u2212", () => view.zoom(0.8), { "aria-label": "zoom out", title: "zoom out (-)" }),
        el("output", { id: "scale", "aria-live": "off" }),
        button("+", () => view.zoom(1.25), { "aria-label": "zoom in", title: "zoom in (+)" }),
        button("Fit", view.fit, { title: "show all of the graph (0)" }),
      ]
    : [];
  return el("div", { class: "graph-head" }, el("h3", {}, "Warp-level graph"), el("span", { class: "muted hint", title: "drag to move, Ctrl + wheel to zoom, arrow keys for blocks" }, drawn ? "drag, Ctrl + wheel, arrows" : ""), el("span", { class: "tools" }, tools));
}

function heatChoice(view) {
  const choice = el("select", { id: "heat-by", "aria-label": "What the heat map shows" }, view.heats.map(({ what }, at) => el("option", { value: at }, what)));
  choice.addEventListener("change", () => {
    view.heat = view.heats[choice.value];
    shownAs.heat = true;
    redraw(view);
    apply(view);
    view.element.querySelector("figcaption").replaceChildren(legend(view.one, view.heat));
    if (view.chosen) showBlock(view, view.chosen);
    showLook(view);
  });
  return choice;
}

function toggleLook(key) {
  shownAs[key] = !shownAs[key];
  if (state.view) showLook(state.view);
}

function showLook(view) {
  for (const key of ["worst", "heat"]) {
    view.element.classList.toggle(`show-${key}`, shownAs[key]);
    view.element.querySelector(`#look-${key}`)?.setAttribute("aria-pressed", String(shownAs[key]));
  }
}

// Pixels of one point of the graph when nothing is zoomed, and the part of the drawing that is seen, in points.
function seen(view) {
  const { width, height } = view.frame.getBoundingClientRect();
  const [w, h] = [view.graph.width + 16, view.graph.height + 16];
  const base = Math.min(width / w, height / h) || 1;
  return { base, left: -8 + w / 2 - width / base / 2, top: -8 + h / 2 - height / base / 2, width: width / base, height: height / base };
}

function centre(view) {
  const part = seen(view);
  return [part.left + part.width / 2, part.top + part.height / 2];
}

function pointOf(view, event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(view.drawing.getScreenCTM().inverse());
  return [at.x, at.y];
}

function apply(view) {
  view.stage.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.k})`;
  const part = seen(view);
  const scale = view.element?.querySelector("#scale");
  if (scale) scale.textContent = `${Math.round(part.base * view.k * 100)} %`;
  showWindow(view, part);
}

function place(view, k, x, y) {
  Object.assign(view, { k, x, y });
  apply(view);
}

function zoomAt(view, factor, [px, py]) {
  const { base } = seen(view);
  const k = Math.min(Math.max(view.k * factor, Math.min(0.5, 0.05 / base)), LARGEST_SCALE / base);
  place(view, k, px - ((px - view.x) * k) / view.k, py - ((py - view.y) * k) / view.k);
}

// All of the graph, at most a quarter larger than natural.
function fit(view) {
  const { base } = seen(view);
  const k = Math.min(1, LARGEST_FIT / base);
  const [cx, cy] = centre(view);
  place(view, k, cx * (1 - k), cy * (1 - k));
}

// A graph that would be too small to read begins at its worst block, in its natural size.
function startView(view, drawn) {
  const first = hottest(view);
  if (drawn) {
    const { base } = seen(view);
    if (base < SMALL) addMap(view);
    if (base >= LEAST_FIT) fit(view);
    else showMiddle(view, 1, view.graph.blocks.find((block) => block.id === first));
  }
  showBlock(view, first);
}

// A block in the middle of the frame, at a scale; where the graph ends before the frame does, its end is at that of the frame.
function showMiddle(view, scale, { box: [x, y, width, height] }) {
  const { base, left, top, width: w, height: h } = seen(view);
  const k = scale / base;
  const along = (start, size, at, all) => (all * k <= size ? start + (size - all * k) / 2 : Math.min(start + 8 / base, Math.max(start + size - all * k - 8 / base, start + size / 2 - at * k)));
  const map = view.map.isConnected ? view.map.getBoundingClientRect().width / base : 0;
  place(view, k, along(left, w - map, x + width / 2, view.graph.width), along(top, h, y + height / 2, view.graph.height));
}

function hottest(view) {
  const blocks = view.graph.blocks.filter((block) => block.box || !view.map);
  const entry = blocks.find((block) => block.id === view.graph.entry) ?? blocks[0];
  return blocks.reduce((a, b) => (view.heat.of(b) > view.heat.of(a) ? b : a), entry).id;
}

function blockAt(graph, start, context) {
  const value = Number(start);
  const inside = graph.blocks.filter((block) => Number(block.start) <= value && value <= Number(block.end));
  const same = inside.find((block) => context && block.context.join() === context.join());
  return (same ?? inside[0])?.id ?? null;
}

function reveal(view, block) {
  const part = seen(view);
  const [x, y, w, h] = block.box;
  const [left, top] = [x * view.k + view.x, y * view.k + view.y];
  const inside = left >= part.left && top >= part.top && left + w * view.k <= part.left + part.width && top + h * view.k <= part.top + part.height;
  if (inside) return;
  const [cx, cy] = centre(view);
  place(view, view.k, cx - (x + w / 2) * view.k, cy - (y + h / 2) * view.k);
}

// Draw the graph anew, where it is.
function redraw(view) {
  view.graph = folded(view.one.graph, view.closed);
  const { drawing, stage } = drawGraph(view.one, view.heat, view.graph);
  view.drawing.setAttribute("viewBox", drawing.getAttribute("viewBox"));
  view.drawing.replaceChildren(...drawing.childNodes);
  view.stage = stage;
  const map = drawMap(view.graph, view.heat);
  view.map.replaceChildren(...map.childNodes);
  view.map.setAttribute("viewBox", map.getAttribute("viewBox"));
  fitFrame(view);
}

// The frame is no larger than the graph needs.
function fitFrame(view) {
  const [width, height] = [view.graph.width + 16, view.graph.height + 16];
  const style = view.frame.parentElement.parentElement.style;
  const fitted = Math.min(LARGEST_FIT, Math.min(0.72 * innerHeight, 832) / height); // of the style sheet: 72vh, 52rem
  const scale = fitted < LEAST_FIT ? 1 : fitted;
  style.setProperty("--graph-width", `${Math.ceil(scale * width) + MAP_WIDTH}px`);
  style.setProperty("--graph-height", `${Math.ceil(LARGEST_FIT * height)}px`);
}

// Draw the graph with these folds closed; what was in the middle of the frame is there again, at the same scale.
function refold(view, closed, middle = null) {
  view.closed = new Set(closed);
  const { base } = seen(view);
  const scale = base * view.k;
  redraw(view);
  const target = middle ?? view.graph.blocks.find((block) => block.id === view.chosen) ?? view.graph.folds?.[0];
  showMiddle(view, scale, target?.box ? target : view.graph.blocks.find((block) => block.box) ?? { box: [0, 0, 1, 1] });
  if (view.chosen) showBlock(view, view.chosen);
}

function toggleFold(view, id) {
  const fold = foldable(view.one.graph).find((one) => one.id === id);
  const opens = view.closed.has(id);
  const closed = opens ? [...view.closed].filter((one) => one !== id) : [...view.closed, id];
  refold(view, closed);
  const at = opens ? view.graph.blocks.find((block) => block.id === fold.members[0]) : view.graph.folds.find((one) => one.id === id);
  if (at?.box) reveal(view, at);
  view.drawing.querySelector(`[data-fold="${id}"]`)?.focus({ preventScroll: true });
}

// Open whatever hides a block.
function unhide(view, id) {
  const hiding = new Set(foldable(view.one.graph).filter((fold) => fold.members.includes(id)).map((fold) => fold.id));
  if ([...hiding].some((one) => view.closed.has(one))) refold(view, [...view.closed].filter((one) => !hiding.has(one)));
}

function selectBlock(view, id, go) {
  if (!view.graph.blocks.some((one) => one.id === id) && view.map) unhide(view, id);
  const block = view.graph.blocks.find((one) => one.id === id);
  if (!block) return;
  showBlock(view, id);
  history.replaceState(null, "", `#k${state.at}/${id}`);
  if (!block.box) return view.inspector.focus();
  reveal(view, block);
  const node = view.drawing.querySelector(`#block-${CSS.escape(id)}`);
  node.focus({ preventScroll: true });
  if (go) view.element.scrollIntoView({ block: "start" });
}

function showBlock(view, id) {
  view.chosen = id;
  for (const node of view.drawing.querySelectorAll(".block[data-id]")) {
    const own = node.dataset.id === id;
    node.setAttribute("aria-pressed", String(own));
    node.setAttribute("tabindex", own ? "0" : "-1");
  }
  for (const node of view.drawing.querySelectorAll(".edge")) node.classList.toggle("near", node.dataset.src === id || node.dataset.dst === id);
  view.inspector.replaceChildren(...blockDetails(view, id));
}

const DIRECTIONS = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] };

// The nearest block in a direction; sideways distance is penalized.
function neighbour(view, [dx, dy]) {
  const middle = (block) => [block.box[0] + block.box[2] / 2, block.box[1] + block.box[3] / 2];
  const from = view.graph.blocks.find((block) => block.id === view.chosen);
  if (!from) return null;
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const block of view.graph.blocks) {
    const [bx, by] = middle(block);
    const ahead = (bx - x) * dx + (by - y) * dy;
    const aside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
    if (ahead > 1 && ahead + 2 * aside < least) [best, least] = [block.id, ahead + 2 * aside];
  }
  return best;
}

function graphKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in DIRECTIONS) {
    const to = neighbour(view, DIRECTIONS[event.key]);
    if (to) selectBlock(view, to, false);
  } else if (event.key === "Enter" || event.key === " ") view.inspector.focus();
  else return;
  event.preventDefault();
}

function listen(view) {
  const { drawing } = view;
  drawing.addEventListener("click", (event) => {
    const fold = event.target.closest("[data-fold]");
    if (fold) return view.dragged || toggleFold(view, fold.dataset.fold);
    const node = event.target.closest(".block");
    if (node && !view.dragged) selectBlock(view, node.dataset.id, false);
  });
  drawing.addEventListener("keydown", (event) => {
    const fold = event.target.closest("[data-fold]");
    if (!fold || (event.key !== "Enter" && event.key !== " ")) return graphKey(view, event);
    event.preventDefault();
    toggleFold(view, fold.dataset.fold);
  });
  drawing.addEventListener("wheel", (event) => wheel(view, event), { passive: false });
  drawing.addEventListener("dblclick", (event) => zoomAt(view, 1.6, pointOf(view, event)));
  drawing.addEventListener("pointerdown", (event) => drag(view, event));
  new ResizeObserver(() => {
    fitFrame(view);
    apply(view);
  }).observe(view.frame);
}

function wheel(view, event) {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoomAt(view, Math.exp(-event.deltaY * 0.002), pointOf(view, event));
}

function drag(view, down) {
  if (down.button !== 0) return;
  const [x, y] = pointOf(view, down);
  const from = { x: view.x, y: view.y };
  view.dragged = false;
  const move = (event) => {
    if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > 4) view.dragged = true;
    if (!view.dragged) return;
    const [px, py] = pointOf(view, event);
    place(view, view.k, from.x + px - x, from.y + py - y);
    view.frame.classList.add("dragging");
  };
  const end = () => {
    removeEventListener("pointermove", move);
    view.frame.classList.remove("dragging");
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end, { once: true });
  addEventListener("pointercancel", end, { once: true });
}
