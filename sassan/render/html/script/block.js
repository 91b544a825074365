// The details of one block: its listing with control codes, units and letters, its warp-uniform registers, its neighbours.

function blockDetails(view, id) {
  const block = view.graph.blocks.find((one) => one.id === id);
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
  const cost = block.cost === null ? NONE : `${number(block.cost)} per execution`;
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
  const edges = view.graph.edges.filter((edge) => edge[own] === block.id);
  if (!edges.length) return NONE;
  return edges.map((edge) => {
    const target = view.graph.blocks.find((one) => one.id === edge[other]);
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

function instructions(view, block) {
  const graph = view.graph;
  const rows = block.rows.map((at) => graph.rows[at]);
  const coded = rows.some((row) => row.control);
  const accessed = rows.some((row) => row.transactions);
  const times = timesOf(view.one);
  const counted = rows.some((row) => row.live !== null);
  const columns = [
    ["address"],
    ...(coded ? CONTROL.map(([name, tip]) => [name, false, tip]) : []),
    ["unit"],
    [""],
    ...(accessed ? [["trans.", true, TRANSACTIONS]] : []),
    ...(counted ? [["live", true, "general registers in use: live before the instruction, or written by it"]] : []),
    ...(times ? [["time", true, "share of the estimated time that warps spend before the instruction"]] : []),
    ["instruction"],
  ];
  const cells = rows.map((row) => [
    row.address,
    ...(coded ? CONTROL.map(([, , key]) => (row.control ? row.control[key] : "?")) : []),
    row.unit ?? "?",
    unit(row.letter),
    ...(accessed ? [transactions(row)] : []),
    ...(counted ? [number(row.live)] : []),
    ...(times ? [times.has(row.address) ? percent(times.get(row.address)) : ""] : []),
    instruction(row),
  ]);
  const note = coded ? "" : el("p", { class: "muted" }, "Control codes are unknown, as the input has no encodings; cubins, cuobjdump -sass and nvdisasm -c -hex have them.");
  return el("div", {}, table(columns, cells, { class: "listing" }), note);
}

function transactions(row) {
  return row.waste ? el("b", { class: "gap", title: row.waste }, row.transactions) : row.transactions;
}

function instruction(row) {
  const branch = row.branch ? el("span", { class: row.branch === "divergent" ? "comment divergent" : "comment" }, `  // ${SAYS[row.branch] ?? row.branch}`) : "";
  const source = row.source ? el("span", { class: "comment" }, `  | ${row.source.split(/[\\/]/).pop()}`) : "";
  return [row.text, branch, source];
}
