// Folding: the blocks of a loop, of a call, or of equal cases of a switch are one; the columns and rows that only they fill are narrow.

const FOLDED = [190, 34];
const MANY_BLOCKS = 60;

// What can be folded, outermost first: `members` are blocks, the first of which gives the name.
function foldable(graph) {
  const cases = graph.cases.map((members, at) => ({ id: `cases-${at}`, members, text: `${number(members.length)} equal cases` }));
  const boxes = graph.boxes.map((box, at) => ({ id: box.id ?? `box-${at}`, members: box.members, text: `${box.loop === null ? "call" : "loop"}, ${many(box.members.length, "block")}`, box: box.box }));
  return [...boxes, ...cases].sort((a, b) => b.members.length - a.members.length);
}

function bounds(boxes) {
  const low = (at) => Math.min(...boxes.map((box) => box[at]));
  const high = (at) => Math.max(...boxes.map((box) => box[at] + box[at + 2]));
  return [low(0), low(1), high(0) - low(0), high(1) - low(1)];
}

// What is closed when a page opens: equal cases, of a large graph.
function closedAtFirst(graph) {
  return new Set(graph.blocks.length > MANY_BLOCKS ? graph.cases.map((_, at) => `cases-${at}`) : []);
}

// The outermost folds of those that are closed, each with its area.
function outermost(graph, closed) {
  const inside = new Set();
  const place = new Map(graph.blocks.map((block) => [block.id, block.box]));
  return foldable(graph).filter((fold) => {
    if (!closed.has(fold.id) || fold.members.some((id) => inside.has(id))) return false;
    fold.members.forEach((id) => inside.add(id));
    fold.area = fold.box ?? bounds(fold.members.map((id) => place.get(id)));
    return true;
  });
}

// A map of one coordinate that keeps the order: what no interval of `kept` covers and a fold does is squeezed, so that the fold has `size`.
function squeeze(kept, folds, size) {
  const ends = [...new Set([...kept, ...folds].flat())].sort((a, b) => a - b);
  const covered = (some, low, high) => some.some(([first, last]) => first < high && low < last);
  const pieces = ends.slice(1).map((high, at) => ({ low: ends[at], high, free: covered(folds, ends[at], high) && !covered(kept, ends[at], high) }));
  const free = pieces.filter((piece) => piece.free);
  const wide = folds.map(([low, high]) => free.filter((piece) => low <= piece.low && piece.high <= high).reduce((sum, piece) => sum + piece.high - piece.low, 0));
  let moved = 0;
  for (const piece of pieces) {
    piece.at = piece.low - moved;
    if (!piece.free) continue;
    const factor = Math.max(...folds.map(([low, high], at) => (low <= piece.low && piece.high <= high ? Math.min(1, size / wide[at]) : 0)));
    piece.factor = factor;
    moved += (piece.high - piece.low) * (1 - factor);
  }
  return (value) => {
    const piece = pieces.find((one) => value < one.high) ?? pieces.at(-1);
    if (!piece || value < piece.low) return value;
    return piece.at + (Math.min(value, piece.high) - piece.low) * (piece.factor ?? 1) + Math.max(0, value - piece.high);
  };
}

// The graph with some folds closed: their blocks are one, with the sum of what they cost, and edges end at it.
function folded(graph, closed) {
  const folds = outermost(graph, closed);
  if (!folds.length) return graph;
  const fold = new Map(folds.flatMap((one) => one.members.map((id) => [id, one])));
  const open = graph.blocks.filter((block) => block.box && !fold.has(block.id));
  const still = [...open.map((block) => block.box), ...graph.ends.map((end) => end.box)];
  const span = (at) => ([...box]) => [box[at], box[at] + box[at + 2]];
  const [mapX, mapY] = [0, 1].map((at) => squeeze(still.map(span(at)), folds.map((one) => span(at)(one.area)), FOLDED[at]));
  const point = ([x, y]) => [mapX(x), mapY(y)];
  const box = ([x, y, width, height]) => [mapX(x), mapY(y), mapX(x + width) - mapX(x), mapY(y + height) - mapY(y)];
  const blocks = graph.blocks.map((block) => (block.box ? { ...block, box: box(block.box) } : block));
  const places = new Map(blocks.map((block) => [block.id, block.box]));
  const place = (id) => (fold.has(id) ? middleOf(box(fold.get(id).area)) : places.get(id));
  const name = (id) => fold.get(id)?.id ?? id;
  const edges = new Map();
  for (const edge of graph.edges) {
    const [src, dst] = [name(edge.src), name(edge.dst)];
    if (src === dst && fold.has(edge.src)) continue;
    const key = fold.has(edge.src) || fold.has(edge.dst) ? `${src} ${dst} ${edge.kind}` : `${edges.size}`;
    const known = edges.get(key);
    if (known) known.count = known.count === null ? null : known.count + (edge.count ?? 0);
    else edges.set(key, { ...edge, src, dst, path: fold.has(edge.src) || fold.has(edge.dst) ? straight(edge.path.map(point), place(edge.src), place(edge.dst)) : edge.path.map(point), label: edge.label && point(edge.label) });
  }
  return {
    ...graph,
    width: mapX(graph.width),
    height: mapY(graph.height),
    ends: graph.ends.map((end) => ({ ...end, box: box(end.box) })),
    blocks: blocks.filter((block) => !fold.has(block.id)),
    edges: [...edges.values()],
    boxes: graph.boxes.map((one, at) => ({ ...one, id: `box-${at}`, box: box(one.box) })).filter((one) => !one.members.every((id) => fold.has(id))),
    folds: folds.map((one) => ({ ...one, box: middleOf(box(one.area)), blocks: graph.blocks.filter((block) => fold.get(block.id) === one) })),
  };
}

// An edge to or from a fold: from the middle of one border to that of another; what is not a block (an exit) keeps its own end.
function straight(points, from, to) {
  if (!points.length) return points;
  const down = (from?.[1] ?? points[0][1]) <= (to?.[1] ?? points.at(-1)[1]);
  const border = ([x, y, width, height], lower) => [x + width / 2, lower ? y + height : y];
  return [from ? border(from, down) : points[0], to ? border(to, !down) : points.at(-1)];
}

function middleOf([x, y, width, height]) {
  const [w, h] = [Math.min(width, FOLDED[0]), Math.min(height, FOLDED[1])];
  return [x + (width - w) / 2, y + (height - h) / 2, w, h];
}

// A fold that is closed, as a block; a click opens it.
function drawFold(fold, heat) {
  const [x, y, width, height] = fold.box;
  const share = fold.blocks.reduce((sum, block) => sum + (block.share ?? 0), 0);
  const text = [fold.text, share ? percent(share) : ""].filter(Boolean).join(" \u00b7 ");
  const troubled = fold.blocks.some((block) => block.gaps.length) ? "troubled" : "";
  const line = svg("text", { class: "line", x: x + width / 2, y: y + height / 2 + 4 }, text);
  const tip = svg("title", {}, `${text}${share ? " of the WCET" : ""}: click to open`);
  const group = svg("g", { class: `block fold ${troubled}`, "data-fold": fold.id, role: "button", tabindex: "0", "aria-expanded": "false", "aria-label": `${text}, closed` }, tip, svg("rect", { class: "frame", x: x - 3, y: y - 3, width: width + 6, height: height + 6, rx: 3 }), svg("rect", { class: "frame", x, y, width, height, rx: 3 }), line);
  group.style.setProperty("--heat", `${Math.round(Math.max(...fold.blocks.map(heat.of)) * 100)}%`);
  return group;
}

// What closes one again: at the box of a loop or a call, or above the first of equal cases.
function drawHandle(fold, graph) {
  const [x, y] = fold.box ?? graph.blocks.find((block) => block.id === fold.members[0]).box;
  const [left, top] = fold.box ? [x + fold.box[2] - 14, y + 14] : [x, y - 4];
  const text = fold.box ? "\u2212" : `\u2212 ${fold.text}`;
  return svg("text", { class: "handle", "data-fold": fold.id, x: left, y: top, role: "button", tabindex: "0", "aria-expanded": "true", "aria-label": `close ${fold.text}` }, svg("title", {}, "click to fold into one block"), text);
}
