"""The stages, composed: what every command and every user of the library calls. Pure functions over frozen values."""

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from sassan import frontend, machine
from sassan.alphabet import Letter
from sassan.errors import Gap, InputError, UsageError
from sassan.ilp import write
from sassan.ipet import flow_facts
from sassan.ipet.block_barriers import block_barriers
from sassan.ipet.flow_facts import Bounds, FlowFacts, Origin
from sassan.ipet.launched import Asked, Kernel, Makespan, Residency, makespan, residency
from sassan.ipet.loop_bounds import check_bounds, infer
from sassan.ipet.paths import LONGEST
from sassan.ipet.paths import paths as walks
from sassan.ipet.sm_bound import SmBound, Waits
from sassan.ipet.wcet import Problem, Setup, Wcet, problem, wcet
from sassan.ir import Function, Program
from sassan.isa import tables
from sassan.isa.languages import Isa, isa_of
from sassan.machine import MachineFile, Multiprocessor, machine_of
from sassan.machine.launch import Launch
from sassan.machine.occupancy import Resources
from sassan.machine.pipes import FORMAT
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.problem import Processor
from sassan.makespan.problem import problem as makespan_problem
from sassan.render.cfg_json import CfgDocument, cfg_document
from sassan.render.decorations import Decorations
from sassan.render.dot import dot_text
from sassan.render.draw import FORMATS, Drawing
from sassan.render.draw import draw as render
from sassan.render.html.sketch import Sketch
from sassan.render.html.sketch import sketch as render_sketch
from sassan.render.levels import Arc, Level, arcs
from sassan.render.listing import Listing
from sassan.render.listing import listing as render_listing
from sassan.strings.blocks import path_blocks, path_string
from sassan.strings.kernel_string import KernelString, letters
from sassan.timing import CostModel, Unit, hazards, latencies, measured
from sassan.timing.findings import Report
from sassan.timing.scoreboards import check
from sassan.warpcfg import Options, compiler_tables, explore
from sassan.warpcfg.compare import Comparison
from sassan.warpcfg.compare import compare as compare_graphs
from sassan.warpcfg.externals import clobbering
from sassan.warpcfg.graph import Kind, Node, WarpCfg

PROGRAMS = ("lp", "mps")
"""File formats of an integer program."""
_TRIED, _TRIED_EACH = 2000, 20
"""Paths that are looked at for each that is listed: many paths spell one string."""
DRAWINGS = FORMATS
"""File formats of a drawing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a result depends on beside the function itself."""

    exploration: Options = field(default_factory=Options)
    facts: FlowFacts | None = None
    loop_bound: int | None = None
    launch: Launch = field(default_factory=Launch)
    letters: str = "timing"
    costs: CostModel = field(default_factory=Unit)
    machine: MachineFile | None = None
    """The one that the user names; None: that of the code's own architecture."""
    resources: Resources | None = None
    """Of a launch whose occupancy is asked for."""
    partition: bool = False
    """Whether the makespan is bounded in the partition model, too."""
    setup: Setup = field(default_factory=Setup)
    solve: bool = True
    """False: the program is only built."""

    def __post_init__(self) -> None:
        """Have the launch know what the facts call parameters."""
        if self.facts is not None:
            object.__setattr__(self, "launch", replace(self.launch, named=self.facts.named))


@dataclass(frozen=True, slots=True)
class ListedPath:
    """A path of one warp from the entry to the end: its string, and its cost alone in cycles of the cost model."""

    string: KernelString
    cost: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that is known of one function.

    `strings` are those of the nodes of the graph, None where an instruction is unknown. `worst_path` is the string of a path that costs as
    much as the WCET, None where there is none to show.
    """

    cfg: WarpCfg
    strings: tuple[KernelString | None, ...]
    bounds: Bounds
    problem: Problem
    wcet: Wcet
    worst_path: KernelString | None = None
    makespan: Makespan | None = None
    residency: Residency | None = None

    @property
    def function(self) -> Function:
        """Return the function."""
        return self.cfg.function

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return everything that forbids a bound, by address."""
        return tuple(sorted({*self.cfg.gaps, *self.wcet.gaps, *(self.makespan.gaps if self.makespan else ())}))

    @property
    def divergent_branches(self) -> int:
        """Return how many instructions may split the warp, call contexts not told apart."""
        return len({node.end for node in self.cfg.nodes if node.divergent})

    @property
    def reactivation_edges(self) -> int:
        """Return how many edges resume the suspended side of a divergence."""
        return sum(edge.kind is Kind.REACTIVATE for edge in self.cfg.edges)


def read(path: str, arch: str | None = None, *, cached: bool = True) -> Program:
    """Return the program of a file (`-`: standard input); `arch` overrides what the file says of itself, `cached` False disassembles anew.

    Raises InputError, MissingToolError.
    """
    return frontend.read(frontend.load(path), arch=arch, cached=cached)


def read_facts(path: str) -> FlowFacts:
    """Return the flow facts of a file.

    Raises InputError.
    """
    return flow_facts.read(path, read_text(path, "facts-syntax", "sassan ipet --facts-template writes such a file"))


def read_machine(path: str) -> MachineFile:
    """Return the machine of a name such as `sm_61`, or of a user's file (`./sm_61` is one).

    Raises InputError.
    """
    named = machine.known(path)
    if named is not None:
        return named
    found = machine.read_file(path, read_text(path, FORMAT.code, FORMAT.hint))
    latencies.known(found.latency, path)
    return found


def read_measurements(path: str) -> measured.Measured:
    """Return the measured block times of a file.

    Raises InputError.
    """
    return measured.read(path, read_text(path, "bad-measurements", "a table: CSV or TOML"))


def read_text(path: str, code: str, hint: str) -> str:
    """Return the text of a file of settings; `code` and `hint` are of the error for one that holds no text.

    Raises InputError.
    """
    try:
        return Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        raise InputError(code, f"{path}: not UTF-8 text", hint=hint) from None
    except (OSError, ValueError) as error:
        raise InputError("cannot-read", f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None


def graph(function: Function, settings: Settings) -> WarpCfg:
    """Return the warp-level graph of a function; what could not be understood is in its gaps.

    Raises InputError for an architecture without a table, SelfCheckError.
    """
    return _explored(function, isa_of(function, settings.letters), settings.exploration)


def _explored(function: Function, isa: Isa, options: Options) -> WarpCfg:
    """Return the graph; that of a cubin agrees with the compiler's tables."""
    cfg = explore(function, isa.facts, options)
    compiler_tables.check(cfg, isa.facts, exact=not options.ablate and options.call_depth is None)
    return cfg


def analyze(function: Function, settings: Settings, warps: int | None = None) -> Analysis:
    """Return all that is known of a function.

    With `warps`, also the bound of their makespan on one SM; with the shape of a block, that of as many as are resident, and of the grid.
    Raises InputError for an architecture without a table or a machine that does not run it, MissingToolError and UsageError for the solver,
    UsageError for a launch that is impossible, SelfCheckError.
    """
    if settings.machine is not None:
        settings.machine.of(function.arch)
    isa = isa_of(function, settings.letters)
    cfg = _explored(function, isa, settings.exploration)
    bounds = _bounds(cfg, isa, settings)
    system = problem(cfg, settings.costs, bounds, settings.setup)
    bound = wcet(system) if settings.solve else Wcet(None, "unsolved", system.cost_name, system.assumptions, system.gaps)
    strings = tuple(_string(node, isa) for node in cfg.nodes)
    found = Analysis(cfg, strings, bounds, system, bound, _worst_path(cfg, bound, strings))
    return _launched(found, isa, settings, warps) if bound.bound else found


def _bounds(cfg: WarpCfg, isa: Isa, settings: Settings) -> Bounds:
    """Return the bounds of the loops: flow facts, then what the code itself says for the launch, then the default."""
    found = () if settings.setup.paper else infer(cfg, clobbering(isa.facts, cfg.externals), settings.launch)
    ran = not cfg.externals and check_bounds(cfg, isa.facts, settings.launch, found)
    bounds = flow_facts.bounds_of(cfg, settings.facts, settings.loop_bound, found)
    if Origin.INFERRED not in bounds.origins:
        return bounds
    told = (f"launched as told: {text}",) if (text := settings.launch.describe(cfg.function)) else ()
    unchecked = () if ran else ("inferred bounds were held to no run: the SIMT machine has no rule for some instruction",)
    return replace(bounds, assumptions=(*told, *bounds.assumptions, *unchecked))


def _string(node: Node, isa: Isa) -> KernelString | None:
    facts = [isa.facts(one) for one in node.code]
    known = [one.letter for one in facts if one is not None]
    return letters(known) if len(known) == len(facts) else None


def _worst_path(cfg: WarpCfg, bound: Wcet, strings: tuple[KernelString | None, ...]) -> KernelString | None:
    if bound.path is None:
        return None
    empty = KernelString()
    return path_string(path_blocks(cfg, bound.path), [one or empty for one in strings])


def paths(found: Analysis, limit: int) -> tuple[ListedPath, ...]:
    """Return at most `limit` paths with different strings, the worst first where it is known, then in the order of the graph.

    Where gaps forbid a bound there are none.
    """
    if found.problem.model is None:
        return ()
    listed: dict[str, ListedPath] = {}
    if found.worst_path is not None and found.wcet.value is not None:
        known = found.worst_path.expand() if found.worst_path.length <= LONGEST else ()
        listed["".join(known)] = ListedPath(found.worst_path, found.wcet.value)
    if len(listed) >= limit:
        return tuple(listed.values())
    strings = [one or KernelString() for one in found.strings]
    texts = ["".join(one.expand()) for one in strings]
    bounds = [bound for bound in found.bounds.of_loop if bound is not None]
    for path in islice(walks(found.cfg, bounds), max(_TRIED, _TRIED_EACH * limit)):
        blocks = [found.cfg.edges[edge].src for edge in path]
        spelled = "".join([texts[block] for block in blocks])
        if spelled not in listed:
            string = path_string(path_blocks(found.cfg, path), strings)
            listed[spelled] = ListedPath(string, sum(found.problem.costs[block] for block in blocks))
            if len(listed) >= limit:
                break
    return tuple(listed.values())


def has_block_barrier(found: Analysis, settings: Settings) -> bool:
    """Say whether a warp may wait for others at a block barrier."""
    isa = isa_of(found.function, settings.letters)
    return bool(block_barriers(found.cfg, isa.facts))


def at_cluster_barriers(found: Analysis, settings: Settings, warps: int | None) -> Analysis:
    """Return the analysis with a gap at each barrier of a cluster, where other SMs keep the warps waiting; the same where none is."""
    gaps = block_barriers(found.cfg, isa_of(found.function, settings.letters).facts).gaps
    return replace(found, makespan=Makespan(SmBound(warps or 0, None, gaps=gaps), None)) if gaps else found


def _launched(found: Analysis, isa: Isa, settings: Settings, warps: int | None) -> Analysis:
    """Add what the warps on an SM take together, as far as it is asked for."""
    asked = Asked(settings.launch, settings.resources, warps, settings.partition)
    if warps is None and asked.threads(found.function) is None:
        return found
    try:
        sm = machine_of(found.function.arch, settings.machine)
    except InputError as error:
        # Without a table of its SM, a function keeps its WCET and lists what is missing.
        if warps is None:
            return replace(found, residency=Residency(None, error.message))
        gap = Gap(found.function.entry, error.code, error.message)
        return replace(found, makespan=Makespan(SmBound(warps, None, gaps=(gap,)), None))
    resident = residency(found.function, asked, sm)
    foreign = tuple(_contention_gap(found, address) for address, cost in found.bounds.external if cost is not None)
    if foreign:
        return replace(found, residency=resident, makespan=Makespan(SmBound(_warps(warps, resident), None, gaps=foreign), None))
    barriers = block_barriers(found.cfg, isa.facts)
    waits = Waits(barriers, tuple(bound or 0 for bound in found.bounds.of_loop)) if barriers else None
    kernel = Kernel(found.problem, tuple((one or KernelString()).counts() for one in found.strings), waits)
    bounds = makespan(kernel, found.wcet, asked, sm, resident.occupancy if resident is not None else None)
    return replace(found, residency=resident, makespan=bounds and _by_waiting(found, bounds, sm, barriers=bool(barriers)))


def _warps(asked: int | None, resident: Residency | None) -> int:
    occupancy = resident.occupancy if resident is not None else None
    return asked if asked is not None else occupancy.warps if occupancy is not None else 0


def _contention_gap(found: Analysis, address: int) -> Gap:
    name = next(one.name for one in found.cfg.externals if one.address == address)
    return Gap(address, "external-contention", f"what a call of {name} takes from other warps is unknown: only one warp alone is bounded")


def _by_waiting(found: Analysis, bounds: Makespan, sm: Multiprocessor, *, barriers: bool) -> Makespan:
    """Return the bounds with that of the worst path by the slots in which its last warp waits, if that is less: the letters tell it."""
    if bounds.worst_path is None or found.worst_path is None or barriers or found.wcet.model != Unit().name:
        return bounds
    processor = Processor({letter: sm.capacity(letter) for letter in Letter}, {}, sm.issue)
    waiting = waiting_slots(makespan_problem((found.worst_path,) * bounds.bound.warps, processor))
    return replace(bounds, worst_path=min(bounds.worst_path, waiting))


def template(functions: tuple[Function, ...], settings: Settings) -> str:
    """Return the flow-fact file with every loop that still needs a bound, to be filled in.

    Raises UsageError when two functions have one name: a fact could not say which it means.
    """
    twice = next((name for name, count in Counter(one.name for one in functions).items() if count > 1), None)
    if twice is not None:
        message = f"two functions are called '{twice}', and flow facts go by name"
        raise UsageError("same-name", message, hint="dump one architecture at a time: cuobjdump -sass -arch sm_61")
    graphs = tuple(graph(function, settings) for function in functions)
    return flow_facts.template((cfg, _bounds(cfg, isa_of(cfg.function, settings.letters), settings)) for cfg in graphs)


def program(analysis: Analysis, form: str) -> str | None:
    """Return the integer program of a function as LP or MPS text, None where gaps forbid it."""
    model = analysis.problem.model
    if model is None:
        return None
    return write.lp(model) if form == "lp" else write.mps(model)


def draw(analysis: Analysis, form: str, *, level: str = "warp", listing: bool = False) -> Drawing:
    """Return the graph of a function as a drawing in one of DRAWINGS; the worst path is drawn where it is known.

    Raises UsageError when no layout ends in time, MissingToolError.
    """
    return render(dot_text(analysis.cfg, _decorations(analysis), level=Level(level), listing=listing), form)


def graph_document(analysis: Analysis, level: str = "warp") -> CfgDocument:
    """Return the graph of an analysis as plain data, with what a drawing shows."""
    return cfg_document(analysis.cfg, _decorations(analysis), level=Level(level))


def _decorations(analysis: Analysis) -> Decorations:
    heads = [analysis.cfg.nodes[loop.head].start for loop in analysis.cfg.loops]
    return Decorations(
        letters=tuple(str(one or "") for one in analysis.strings),
        costs=analysis.problem.costs,
        counts=analysis.wcet.counts,
        bounds={head: bound for head, bound in zip(heads, analysis.bounds.of_loop, strict=True) if bound is not None},
        wcet=_title(analysis.wcet),
    )


def compare(left: Function, right: Function, settings: Settings) -> Comparison:
    """Return the branches of two forms of one kernel side by side: where threads part, and where they meet again.

    Raises InputError for an architecture without a table, SelfCheckError.
    """
    return compare_graphs(graph(left, settings), graph(right, settings))


def listing(function: Function, settings: Settings) -> Listing:
    """Return one row per instruction, with its control code and whether its branches may split the warp.

    Raises InputError for an architecture without a table, SelfCheckError.
    """
    isa = isa_of(function, settings.letters)
    return render_listing(_explored(function, isa, settings.exploration), isa.facts)


def check_control(function: Function) -> Report:
    """Return every consumer of a function that does not wait for its producer, by its control codes.

    Raises InputError for an architecture without a table.
    """
    return check(function, tables.load(function.arch).facts, hazards.load(function.arch))


def _title(bound: Wcet) -> str:
    if bound.value is None:
        return ""
    return f"{bound.value} cycles ({bound.model} model)" if bound.bound else f"{bound.value} (experiment, no bound)"


def edges(cfg: WarpCfg, level: str) -> tuple[Arc, ...]:
    """Return the edges of the warp, or those of a single thread."""
    return arcs(cfg, Level(level))


def sketch(analysis: Analysis, settings: Settings) -> Sketch:
    """Return the graph and the listing of an analysis as plain data for a page, before anything has a place."""
    facts_of = isa_of(analysis.function, settings.letters).facts
    total = analysis.wcet.value if analysis.wcet.bound else None
    return render_sketch(analysis.cfg, _decorations(analysis), facts_of, analysis.gaps, total)
