// A long list of rows of one height, of which only those in sight, and some around them, are elements.

const ROWS_AROUND = 20;

// `box` scrolls; `draw` makes the row of a number, again when it was out of sight. `resize` takes the number of rows, when they changed.
function virtualRows(box, count, height, draw) {
  const body = el("div", { class: "rows", role: "presentation" });
  box.replaceChildren(body);
  let shown = new Map();
  const resize = (rows) => {
    count = rows;
    shown = new Map();
    body.style.height = `${count * height}px`;
    refresh();
  };
  const refresh = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / height) - ROWS_AROUND);
    const last = Math.min(count, Math.ceil((box.scrollTop + box.clientHeight) / height) + ROWS_AROUND);
    const next = new Map();
    for (let at = first; at < last; at += 1) next.set(at, shown.get(at) ?? placed(draw(at), at * height));
    if (next.size === shown.size && next.keys().next().value === shown.keys().next().value) return;
    shown = next;
    body.replaceChildren(...next.values());
  };
  // A row that is in sight already does not move.
  const reveal = (at) => {
    const top = at * height;
    if (top < box.scrollTop || top + height > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 3);
    refresh();
  };
  box.addEventListener("scroll", refresh, { passive: true });
  new ResizeObserver(refresh).observe(box);
  resize(count);
  const redraw = () => resize(count);
  return { element: box, resize, redraw, reveal, rows: () => shown };
}

function placed(node, top) {
  node.style.top = `${top}px`;
  return node;
}
