// The details of one block: its listing with control codes, units and letters, its warp-uniform registers, its neighbours.

function blockDetails(view, id) {
  const block = view.one.graph.blocks.find((one) => one.id === id);
  return [
    el("h3", {}, `Block ${block.start} \u2013 ${block.end}`, block.box ? button("show in the graph", () => view.select(id, true), { class: "link" }) : ""),
    block.gaps.length ? items(block.gaps.map((text) => `gap ${text}`), "gap") : "",
    el("dl", { class: "facts" }, blockFacts(view, block)),
    el("h4", {}, many(block.instructions, "instruction")),
    instructions(view, block),
  ].filter(Boolean);
}

const fact = (name, ...value) => [el("dt", {}, name), el("dd", {}, ...value)];

function blockFacts(view, block) {
  const cost = block.cost === null ? "unknown" : `${number(block.cost)} per execution`;
  const times = block.count === null ? "" : block.count ? `${many(block.count, "execution")} on the worst path, ${percent(block.share)} of the WCET` : "not on the worst path";
  return [
    block.context.length ? fact("called from", block.context.join(" \u2192 ")) : [],
    fact("string", kernelString(block.string)),
    fact("cost", [cost, times].filter(Boolean).join("; ")),
    fact("warp-uniform", uniformRegisters(block.agreement)),
    fact("from", neighbours(view, block, "dst", "src")),
    fact("to", neighbours(view, block, "src", "dst")),
  ];
}

function uniformRegisters(registers) {
  if (registers === null) return el("span", { class: "muted" }, "unknown: the graph has gaps");
  if (!registers.length) return el("span", { class: "muted" }, "no register is warp-uniform");
  const chips = registers.map((name) => el("code", { class: "register" }, name));
  return el("span", { title: "registers with the same value in all active threads at the start of the block" }, chips);
}

function neighbours(view, block, own, other) {
  const edges = view.one.graph.edges.filter((edge) => edge[own] === block.id);
  if (!edges.length) return NONE;
  return edges.map((edge) => {
    const target = view.one.graph.blocks.find((one) => one.id === edge[other]);
    const name = target ? button(target.start, () => view.select(target.id), { class: "link" }) : "";
    const kind = el("span", { class: `kind-name kind-${edge.kind || "fallthrough"}` }, edge.kind || "entry");
    return el("span", { class: "neighbour", title: edge.says.join("\n") }, kind, " ", name, edge.count ? ` \u00d7${number(edge.count)}` : "", " ");
  });
}

const CONTROL = [
  ["st", "stall: cycles before the next instruction of this warp", "stall"],
  ["y", "Y: the hint to let another warp run", "hint"],
  ["w", "scoreboard barrier held until the result is written", "write"],
  ["r", "scoreboard barrier held until the sources are read", "read"],
  ["waits", "scoreboard barriers to wait for", "waits"],
  ["reuse", "source slots that are kept in the operand cache", "reuse"],
];

const TRANSACTIONS = "memory transactions of a full warp (sectors of 32 bytes, or passes over the banks of shared memory) / how few the same bytes need, under the assumptions that sassan memory prints";

const SAYS = { divergent: "divergent", uniform: "uniform", unreached: "unreached", "?": "divergent?" };

// The columns of a listing of these rows: `text` is what a cell says, `cell` the element where it is more than text.
function listingColumns(one, rows) {
  const times = timesOf(one);
  const column = (title, text, tip, more = {}) => ({ title, tip, text, cell: text, ...more });
  const numeric = { numeric: true };
  // One file is named once, above its line numbers.
  const files = new Set(rows.filter((row) => row.source).map((row) => placeOf(row.source).replace(/:\d+$/, "")));
  const line = files.size === 1 ? ["line", (row) => placeOf(row.source).split(":").pop(), `of ${[...files][0]}`, numeric] : ["line", (row) => placeOf(row.source), "source line"];
  const share = (row) => (times.has(row.address) ? percent(times.get(row.address)) : "");
  return [
    column("address", (row) => row.address),
    ...(rows.some((row) => row.control) ? CONTROL.map(([title, tip, key]) => column(title, (row) => (row.control ? row.control[key] : "?"), tip)) : []),
    column("unit", (row) => row.unit ?? "?"),
    column("", (row) => row.letter ?? "?", undefined, { cell: (row) => unit(row.letter) }),
    ...(rows.some((row) => row.transactions) ? [column("trans.", (row) => row.transactions, TRANSACTIONS, { ...numeric, cell: transactions })] : []),
    ...(rows.some((row) => row.live !== null) ? [column("live", (row) => number(row.live), "general registers in use: live before the instruction, or written by it", numeric)] : []),
    ...(times ? [column("time", share, "share of the estimated time that warps spend before the instruction", { ...numeric, cell: (row) => el("span", { title: stallReasons(one, row.address) }, share(row)) })] : []),
    ...(rows.some((row) => row.source) ? [column(...line)] : []),
    column("instruction", (row) => row.text, undefined, { cell: (row) => [row.text, branchComment(row)] }),
  ];
}

const stallReasons = (one, at) => one.estimate.stalls.filter(({ address: place }) => place === `0x${at}`).map(({ reason, share }) => `${reason.replaceAll("_", " ")} ${percent(share)}`).join("\n");

function instructions(view, block) {
  const rows = block.rows.map((at) => view.graph.rows[at]);
  const columns = listingColumns(view.one, rows);
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const note = rows.some((row) => row.control) ? "" : el("p", { class: "muted" }, "Control codes are unknown, as the input has no encodings; cubins, cuobjdump -sass and nvdisasm -c -hex have them.");
  return el("div", {}, table(columns.map(({ title, numeric, tip }) => [title, numeric, tip]), cells, { class: "listing" }), note);
}

function transactions(row) {
  return row.waste ? el("b", { class: "gap", title: `${row.pattern}\n${row.waste}` }, row.transactions) : el("span", { title: row.pattern }, row.transactions);
}

const branchComment = (row) => (row.branch ? el("span", { class: row.branch === "divergent" ? "comment divergent" : "comment" }, `  // ${SAYS[row.branch] ?? row.branch}`) : "");
