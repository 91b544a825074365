// One function: gaps and numbers first, assumptions in one line, then its graph, its estimate, its loops and its warps.

async function kernelView(one) {
  const view = graphView(one);
  const code = await codePanel(one, view);
  // Who reads PTX beside it came for the code; a report shows the graph first.
  const codeFirst = Boolean(one.code?.ptx.length);
  return [
    heading(one),
    refusedPanel(PAGE.refused.filter((other) => other.file === one.file)),
    gapsPanel(one, view),
    el("dl", { class: "tiles" }, numbers(one)),
    codeFirst ? code : "",
    assumptionsPanel(one),
    pathPanel(one),
    ...beside(
      [view.element, one.estimate && !codeFirst ? code : ""],
      [one.estimate || codeFirst ? "" : code, estimatePanel(one, view), loopsPanel(one, view), launchPanel(one), registersPanel(one)],
      Boolean(one.estimate || (one.code && !codeFirst)),
    ),
    blocksPanel(one, view),
    measuredPanel(one),
    makespanPanel(one),
  ];
}

// Two stacks of panels, which a wide window shows beside each other.
function beside(left, right, both = true) {
  const stack = (panels) => el("div", { class: "stack" }, panels);
  return both ? [el("div", { class: "columns" }, stack(left), stack(right))] : [...left, ...right];
}

function heading(one) {
  const place = listing.shown.findIndex((other) => other.at === state.at);
  const step = (by, text, tip) => {
    const to = listing.shown[place + by];
    return button(text, () => open(to.at), { disabled: !to || place < 0, title: tip, "aria-label": tip });
  };
  const steps = FUNCTIONS.length > 1 ? el("span", { class: "steps" }, step(-1, "\u2039", "previous function (k)"), step(1, "\u203a", "next function (j)")) : "";
  return el("div", { class: "heading" }, el("h2", { title: one.name }, one.head), el("p", { class: "muted" }, [one.arch, one.file, ...new Set([one.shown, one.name].filter((text) => text !== one.head))].join(" \u00b7 ")), steps);
}

function gapsPanel(one, view) {
  if (!one.gaps.length) return "";
  const rows = one.gaps.map((gap) => {
    const at = view.blockAt(gap.address);
    const place = at ? button(gap.address, () => view.select(at, true), { class: "link", title: "show the block" }) : address(gap.address);
    return el("li", {}, place, " ", el("b", {}, gap.code), ` ${gap.message}`);
  });
  return panel(`${many(one.gaps.length, "gap")}: no bound`, "gaps", el("ul", {}, rows), gapHint(one));
}

const gapHint = (one) =>
  one.gaps.some((gap) => gap.code === "unbounded-loop")
    ? el("p", { class: "muted" }, "Pass loop bounds with --bounds FACTS.toml (sassan ipet --facts-template writes a template), or --loop-bound N for all loops.")
    : "";

function numbers(one) {
  const upper = one.makespan?.upper ?? null;
  return [
    wcetTile(one),
    one.makespan ? tile(`makespan, ${many(one.makespan.warps, "warp")}`, number(upper), upper === null ? "no bound" : "cycles at most, on one SM", upper === null ? "bad" : "main") : "",
    one.makespan?.partition ? tile("makespan, partitions", number(one.makespan.partition.upper), "cycles; each warp stays on its scheduler") : "",
    one.grid ? tile("grid", number(one.grid.upper), `cycles${one.grid.us === null ? "" : ` (${bound(one.grid.us)} us)`}; ${many(one.grid.blocks, "block")} on ${many(one.grid.sms, "SM")}${one.grid.gpu === null ? "; unlimited memory bandwidth" : ` of ${one.grid.gpu}`}`) : "",
    one.estimate ? tile("estimate", `${expected(one.estimate.us)} us`, `bound by ${one.estimate.bound_by}; no bound`) : "",
    tile("instructions", number(one.instructions)),
    tile("blocks", number(one.blocks), many(one.edges, "edge")),
    tile("divergent branches", number(one.divergent_branches), many(one.reactivation_edges, "reconvergence edge")),
    tile("loops", number(one.loops.length)),
    tile("gaps", number(one.gaps.length), "", one.gaps.length ? "bad" : "good"),
  ];
}

function wcetTile(one) {
  const { value, status, model, experiment } = one.wcet;
  if (status === "experiment") return tile("experiment", number(experiment), `not a bound; ${model} model`, "bad");
  if (value === null) return tile("WCET", "no bound", one.gaps.length ? "see the gaps" : one.wcet.note || status, "bad");
  return tile("WCET", number(value), `${model === "unit" ? "instructions" : "cycles"} at most, for one warp; ${model} model`, "main");
}

// The assumptions of a record, each with its status.
function backed(record) {
  return record.assumptions.map((text, at) => `${text} [${record.assumption_kinds[at]}]`);
}

// One line, which opens: how many there are, and those that nothing but the reader's word backs.
function assumptionsPanel(one) {
  const notes = [one.wcet.note].filter(Boolean);
  if (!one.assumptions.length && !notes.length) return "";
  const assumed = one.assumptions.filter((_, at) => one.assumption_kinds[at] === "assumed");
  const line = [...notes, ...assumed].join("; ");
  const summary = el("summary", { title: "the bounds hold under these" }, `${many(one.assumptions.length, "assumption")}, ${number(assumed.length)} assumed`, line ? el("span", {}, `: ${line}`) : "");
  return el("details", { class: "panel assumptions", "aria-label": "Assumptions" }, summary, notes.map((text) => el("p", {}, text)), items(backed(one)));
}

function pathPanel(one) {
  const path = one.strings.worst_path;
  return path === null ? "" : panel("Worst path", "path", el("p", {}, kernelString(path)));
}

const SOURCES = { fact: "flow fact", inferred: "inferred from the code", default: "--loop-bound", yield: "YIELD assumption", none: "no bound" };

function loopsPanel(one, view) {
  if (!one.loops.length) return "";
  const rows = one.loops.map((loop, index) => {
    const at = view.blockAt(loop.head, loop.context);
    const head = at ? button(loop.head, () => view.select(at, true), { class: "link", title: "show the head" }) : address(loop.head);
    const most = loop.bound === null ? el("b", { class: "gap" }, "none") : `${number(loop.bound)}${one.graph.many[index] ? " \u00d7 32" : ""}`;
    return [head, loop.context.join(" \u2192 "), most, SOURCES[loop.source] ?? loop.source, loop.reason];
  });
  const shown = [["head"], ["called from"], ["bound", true, "back edges of one thread per entry of the loop; \u00d7 32 if each thread may iterate separately"], ["source"], ["reason"]];
  const kept = shown.map((_, at) => at).filter((at) => rows.some((cells) => cells[at]));
  return panel("Loops", "loops", table(kept.map((at) => shown[at]), rows.map((cells) => kept.map((at) => cells[at]))));
}

function blocksPanel(one, view) {
  const rows = one.graph.blocks.map((block) => [
    button(block.id.slice(1), () => view.select(block.id, true), { class: "link" }),
    number(block.instructions),
    block.string === null ? NONE : kernelString(block.string),
    block.cost === null ? "unknown" : number(block.cost),
    number(block.count),
    percent(block.share),
    block.divergent ? "\u25c7 divergent" : "",
    one.graph.edges.filter((edge) => edge.src === block.id).map((edge) => (edge.dst === "exit" ? "exit" : `${edge.kind} ${edge.dst.slice(1)}`)).join(", "),
  ]);
  const head = [["block"], ["instructions", true], ["string"], ["cost", true, "of one execution"], ["executions", true, "on the worst path"], ["share", true, "of the WCET"], [""], ["successors"]];
  const body = el("div", {});
  const fillIn = () => body.childElementCount || body.append(table(head, rows));
  const box = el("details", { class: "panel blocks", ontoggle: fillIn, open: one.graph.blocks.every((block) => !block.box) }, el("summary", {}, `Blocks as a table (${number(rows.length)})`), body);
  if (rows.length <= 100) fillIn();
  return box;
}

// Recorded launches of this kernel and the bounds of their grids; a ratio below 1 refutes the bound.
function measuredPanel(one) {
  if (!one.measured?.length) return "";
  const rows = one.measured.map((launch) => {
    const ratio = launch.ratio === null ? NONE : launch.ratio.toFixed(2);
    const most = launch.bound === null ? launch.gaps.map((gap) => gap.code).join(", ") : number(launch.bound.cycles);
    const measured = launch.measured.cycles === null ? null : Math.round(launch.measured.cycles);
    return [shape(launch.grid), shape(launch.block), number(measured), most, launch.ratio !== null && launch.ratio < 1 ? el("b", { class: "gap" }, ratio) : ratio, executions(launch.counts)];
  });
  const head = [["grid"], ["block"], ["measured", true, "cycles of the whole launch, on the GPU"], ["bound", true, "of the whole grid, in cycles"], ["bound / measured", true, "a ratio below 1 refutes the bound"], ["executions", false, "how often instructions ran, against the worst path and against what the graph allows"]];
  return panel("Measured", "measured", table(head, rows));
}

function executions(counts) {
  if (!counts.checked) return NONE;
  if (!counts.consistent) return el("b", { class: "gap" }, `${number(counts.above.length || counts.checked)} of ${number(counts.checked)} impossible`);
  return counts.equal === counts.checked ? `${number(counts.checked)} equal` : `${number(counts.equal)} equal, ${number(counts.checked - counts.equal)} possible`;
}

function launchPanel(one) {
  const known = one.occupancy;
  if (!known) return "";
  if (known.blocks === null) return panel("Launch", "launch", el("p", {}, `The occupancy is unknown: ${known.why}`));
  const text = `${many(known.blocks, "block")} of ${many(known.block_warps, "warp")} are resident on an SM (limited by ${known.limited_by.join(", ")}); ` +
    `${number(known.threads)} threads, ${number(known.registers)} registers per thread, ${number(known.shared)} bytes of shared memory per block.`;
  return panel("Launch", "launch", el("p", {}, text), known.assumptions.length ? items(backed(known)) : "");
}

function registersPanel(one) {
  return one.registers_in_use?.length ? panel("Registers", "registers", items(one.registers_in_use)) : "";
}
