// A map of a graph that is too large for its frame: every block as a bar, and the visible part.

const SMALL = 0.5;

function drawMap(graph, heat) {
  const bars = graph.blocks.filter((block) => block.box).map((block) => {
    const [x, y, width, height] = block.box;
    const bar = svg("rect", { x, y, width, height, class: [block.count ? "worst" : "", block.gaps.length ? "troubled" : ""].join(" ") });
    bar.style.setProperty("--heat", `${Math.round(heat.of(block) * 100)}%`);
    return bar;
  });
  const size = `0 0 ${graph.width} ${graph.height}`;
  return svg("svg", { class: "map", viewBox: size, preserveAspectRatio: "none", "aria-hidden": "true" }, bars, svg("rect", { class: "window" }));
}

function addMap(view) {
  view.frame.append(view.map);
  const go = (event) => {
    if (!event.buttons) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(view.map.getScreenCTM().inverse());
    const [cx, cy] = centre(view);
    place(view, view.k, cx - at.x * view.k, cy - at.y * view.k);
  };
  view.map.addEventListener("pointerdown", go);
  view.map.addEventListener("pointermove", go);
}

function showWindow(view, part) {
  if (!view.map) return;
  const shown = { x: (part.left - view.x) / view.k, y: (part.top - view.y) / view.k, width: part.width / view.k, height: part.height / view.k };
  for (const [name, value] of Object.entries(shown)) view.map.lastChild.setAttribute(name, value);
}
