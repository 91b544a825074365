"""From a function and settings to a result: graph, bounds of loops, WCET, strings, and what the warps of an SM take together."""

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sassan import __version__
from sassan.access import accesses, assumptions
from sassan.access.access import Access
from sassan.access.boxes import BOXES, box_traffic
from sassan.access.limits import limited_to
from sassan.access.opcodes import tensor_operands
from sassan.access.traffic import Traffic, traffic
from sassan.app.accesses import launch_accesses
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.assumptions import Assumption, AssumptionStatus, published
from sassan.errors import DefectWarning, Gap, UsageError
from sassan.ipet import flow_facts
from sassan.ipet.facts.targets import with_targets
from sassan.ipet.facts.template import template
from sassan.ipet.flow_facts import LoopBounds, Origin
from sassan.ipet.loop_bounds import Ending, Inference, Inferred, inference, with_extents, with_waits
from sassan.ipet.wcet import WarpsAlike, Wcet, WcetProblem, problem, wcet
from sassan.ir import Function, Language
from sassan.isa.languages import Isa, answering, ended, ending, isa_of, spilling, variables
from sassan.machine.launch import LaunchConfiguration, impossible
from sassan.machine.memory_pipeline import memory_pipeline
from sassan.strings.blocks import path_blocks, path_string
from sassan.strings.kernel_string import KernelString, letters
from sassan.timing import Quantity
from sassan.timing.cycles import CycleCostModel
from sassan.timing.engines import parted_costs
from sassan.timing.model import NO_ACCESSES
from sassan.values import WarpValues, with_values
from sassan.values.classes import WarpClass, differing_classes, warp_classes
from sassan.values.divisions import Divisions, divisions
from sassan.values.environment import LaunchEnvironment
from sassan.values.reach import unreached
from sassan.values.spaces import outside
from sassan.values.threads import most_threads
from sassan.warpcfg import compiler_tables, explore
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.externals import NEVER_RETURN, clobbering
from sassan.warpcfg.graph import EdgeKind, External, Node, WarpCfg
from sassan.warpcfg.stack_words import stack_words
from sassan.warpcfg.stopped import stopped_callee, without_callees
from sassan.warpcfg.waits import elections, is_try, waits

if TYPE_CHECKING:
    from sassan.ipet.loop_bounds.whole_run import WholeRun

_OTHERS = frozenset({Ending.PHASE, Ending.REGISTERS})
"""Waits that nothing ends which a launch says."""
_LOOSE = 64
"""Back edges of an inner loop from which its bound may be far from what the warps of a launch do."""


def warp_graph(function: Function, settings: Settings) -> WarpCfg:
    """The warp-level graph of a function for the launch that is given; what could not be understood is in its gaps.

    Raises InputError for an architecture without a table, SelfCheckError.
    """
    plain, isa = explored(function, isa_of(function, settings.letters), settings)
    values = launched(plain, isa, settings)
    return _possible(values.cfg if values is not None else plain, settings)


def explored(function: Function, isa: Isa, settings: Settings, stopped: Collection[str] = ()) -> tuple[WarpCfg, Isa]:
    """The graph of a function, with the targets of branches that flow facts give; that of a cubin is checked against the compiler's tables.

    A thread ends where it calls a function that never returns, or one that is never called: the facts of the graph say so.
    `stopped` are functions of the same PTX that are too large by themselves: what may call one has the gap of that, unexplored.
    Raises InputError for flow facts that do not fit, SelfCheckError.
    """
    options = settings.exploration
    function = with_targets(function, settings.facts, isa.facts)
    callee = stopped_callee(function, stopped)
    cfg = explore(function, isa.facts, options) if callee is None else without_callees(function, callee, isa.facts, options)
    if moved := stack_words(cfg, isa.facts):
        isa = spilling(isa, moved)
        cfg = explore(function, variables(isa), options)
    compiler_tables.check(cfg, isa.facts, exact=not options.ablate and options.call_depth is None)
    queries = outside(cfg, clobbering(isa.facts, cfg.externals))
    if queries:
        isa = answering(isa, queries)
        cfg = explore(function, variables(isa), options)
    never = {name for name, cost in settings.facts.external if cost is None} if settings.facts is not None else set[str]()
    last = tuple(external for external in cfg.externals if external.name in NEVER_RETURN | never)
    if not last:
        return cfg, isa
    isa = ending(isa, frozenset(external.address for external in last))
    return _explore(function, variables(isa), settings, last), isa


def _explore(function: Function, facts_of: FactsOf, settings: Settings, last: Iterable[External]) -> WarpCfg:
    """The graph of a function by these facts, with the external calls among `last` that it holds: to the facts, they only end threads."""
    cfg = explore(function, facts_of, settings.exploration)
    ends = {node.end for node in cfg.nodes}
    held = tuple(external for external in last if external.address in ends)
    names = sorted({external.name for external in held} & NEVER_RETURN)
    assumed = (f"a thread that calls {', '.join(names)} ends there",) if names else ()
    return replace(cfg, externals=tuple(sorted({*cfg.externals, *held})), assumptions=(*cfg.assumptions, *assumed))


def launched(cfg: WarpCfg, isa: Isa, settings: Settings) -> WarpValues | None:
    """What the registers of a graph hold for the launch, and the graph of that; None where nothing is given, or where it is not followed.

    Raises SelfCheckError.
    """
    if settings.launch == LaunchConfiguration() or settings.experiment or settings.exploration.call_depth is not None:
        return None
    last = tuple(external for external in cfg.externals if external.address in ended(isa))
    values = with_values(cfg, variables(isa), settings.launch, lambda facts: _explore(cfg.function, facts, settings, last))
    if values is None or values.cfg == cfg:
        return values
    launch = f"launch as given: {settings.launch.describe(cfg.function)}"
    return replace(values, cfg=replace(values.cfg, assumptions=(launch, *values.cfg.assumptions)))


def _possible(cfg: WarpCfg, settings: Settings) -> WarpCfg:
    """The graph, with a gap where the kernel was compiled for other blocks than the launch has."""
    why = impossible(settings.launch, cfg.function)
    return replace(cfg, gaps=(*cfg.gaps, Gap(cfg.function.entry, "impossible-launch", why))) if why else cfg


def analyze(
    function: Function, settings: Settings, file: str = "", stopped: Collection[str] = (), *, before: AnalysisResult | None = None
) -> AnalysisResult:
    """All that is known of a function; `file` is the input that holds it, `stopped` is that of `explored`.

    `before`: a result of the same function for the same launch, from which the graph, what registers hold and the run of all warps are.

    Units: cycles of the cost model. With warps, the result also bounds their makespan on one SM; with the shape of a block, that of as many
    as are resident; with a grid, that of the grid. Raises InputError for an architecture without a table or a machine that does not run it,
    MissingToolError and UsageError for the solver, UsageError for an impossible launch, SelfCheckError.
    """
    if settings.machine is not None:
        settings.machine.of(function.arch)
    if isinstance(settings.costs, CycleCostModel):
        settings = replace(settings, costs=settings.costs.of(function))
    if before is not None:
        isa, values, cfg = before.isa, before.values, before.cfg
    else:
        plain, isa = explored(function, isa_of(function, settings.letters), settings, stopped)
        values = launched(plain, isa, settings)
        cfg = _possible(values.cfg if values is not None else plain, settings)
    bounds, run = _bounds(cfg, isa, settings, values, file, before)
    while unmade := _unmade(cfg, bounds):
        # Nothing is lost behind a call that is never made.
        isa = ending(isa, unmade)
        last = tuple(external for external in cfg.externals if external.address in ended(isa) - unmade)
        plain = _explore(cfg.function, variables(isa), settings, last)
        values = launched(plain, isa, settings)
        cfg = _possible(values.cfg if values is not None else plain, settings)
        bounds, run = _bounds(cfg, isa, settings, values, file, before)
    followed = launch_accesses(values, settings) if values is not None and _moves(settings) else None
    if followed is not None and run is not None:
        followed = _as_seen(followed, run)
    classes = before.classes if before is not None and cfg is before.cfg else _classes(cfg, isa, settings, values)
    parts = tuple((each, _of_class(cfg, bounds, each)) for each in classes)
    system = _system(cfg, settings, bounds, _traffic(cfg, followed, settings, run, classes), parts)
    bound = wcet(system) if settings.solve else Wcet(None, "unsolved", system.cost_model.name, system.assumptions, system.gaps)
    strings = tuple(_string(node, isa) for node in cfg.nodes)
    worst_path = _worst_path(cfg, bound, strings)
    result = AnalysisResult(file, cfg, strings, bounds, system, bound, worst_path, settings, isa, values, followed, run, classes)
    if not bound.bound or (settings.warps is None and settings.launch.threads is None):
        return result
    from sassan.app.sm_level import with_sm_level  # noqa: PLC0415 - start-up: only for warps that share an SM

    return with_sm_level(result)


def recosted(result: AnalysisResult, settings: Settings) -> AnalysisResult:
    """The result of the same function for the same launch with other costs, or on a GPU of the same SM with other figures.

    Raises what `analyze` raises for the solver.
    """
    parts = tuple((each, _of_class(result.cfg, result.bounds, each)) for each in result.classes)
    moved = result.problem.traffic if _moves(settings) else None
    system = _system(result.cfg, settings, result.bounds, moved, parts)
    bound = wcet(system)
    worst_path = _worst_path(result.cfg, bound, result.strings)
    from sassan.app.sm_level import with_sm_level  # noqa: PLC0415 - start-up: only for warps that share an SM

    changed = replace(result, problem=system, wcet=bound, worst_path=worst_path, settings=settings, makespan=None, scheduled=None)
    return with_sm_level(changed)


def _system(
    cfg: WarpCfg, settings: Settings, bounds: LoopBounds, moved: Traffic | None, classes: Sequence[tuple[WarpClass, LoopBounds]]
) -> WcetProblem:
    """The integer program of a graph, with one for each class of the warps of a block, and what engines take beside them."""
    blocks = settings.costs.block_costs(cfg, moved.cycles if moved is not None else NO_ACCESSES)
    system = _on_gpu(problem(cfg, settings.costs, bounds, settings.setup, moved, blocks), settings)
    if system.model is None or not _moves(settings):
        return system
    parted = parted_costs(cfg, settings.costs, system.traffic.cycles, dict(bounds.external))
    alike = tuple(
        WarpsAlike(each.warps, problem(cfg, settings.costs, of_class, settings.setup, moved, blocks, each.threads_of_nodes))
        for each, of_class in classes
    )
    return replace(system, parted=parted, classes=alike)


def _classes(cfg: WarpCfg, isa: Isa, settings: Settings, values: WarpValues | None) -> tuple[WarpClass, ...]:
    """The classes of the warps of a block, where it matters."""
    if not _moves(settings) or settings.resources is None or settings.experiment or cfg.gaps or values is None:
        return ()
    facts_of = clobbering(variables(isa), cfg.externals)
    if any(is_try(each) or tensor_operands(each) for node in cfg.nodes for each in node.code):
        return warp_classes(cfg, facts_of, settings.launch)
    return differing_classes(cfg, facts_of, settings.launch, values)


def _of_class(cfg: WarpCfg, bounds: LoopBounds, of_class: WarpClass) -> LoopBounds:
    """The bounds of the loops of a graph in the warps of a class."""
    elected = elections(cfg, of_class.threads)
    known = tuple(
        min(elected[index][1], known) if index in elected and known is not None else known for index, known in enumerate(bounds.of_loop)
    )
    return flow_facts.without_blocks(
        cfg, replace(bounds, of_loop=known), [each for each in of_class.unreached if each not in bounds.facts.never]
    )


def _unmade(cfg: WarpCfg, bounds: LoopBounds) -> frozenset[int]:
    """The addresses of the external calls in blocks that no thread executes."""
    made = {node.end for node in cfg.nodes if node.start not in bounds.facts.never}
    return frozenset(external.address for external in cfg.externals if external.address not in made)


def _on_gpu(system: WcetProblem, settings: Settings) -> WcetProblem:
    """The integer program with the assumption that the GPU runs code for another minor version, where it does."""
    gpu, arch = settings.gpu, system.cfg.function.arch
    if gpu is None or gpu.architecture == arch:
        return system
    return replace(system, assumptions=(*system.assumptions, published(f"{gpu.name} ({gpu.architecture}) runs code of {arch}")))


def _moves(settings: Settings) -> bool:
    """Say whether it matters what accesses move."""
    return settings.contention and settings.costs.quantity is Quantity.CYCLES


def _traffic(
    cfg: WarpCfg,
    followed: tuple[Access, ...] | None,
    settings: Settings,
    run: "WholeRun | None",
    classes: Sequence[WarpClass],
) -> Traffic | None:
    """What the accesses of a graph move, None where nothing of a launch is given; a gap where registers are not followed."""
    if not _moves(settings):
        return None
    if followed is None:
        why = "what the accesses of the grid move is unknown: registers are not followed here"
        return Traffic(gaps=(Gap(cfg.function.entry, "values-not-followed", why),))
    pipeline = memory_pipeline(settings.machine.sm.arch if settings.machine is not None else cfg.function.arch)
    limited = (Assumption(f"transactions of accesses: {run.why}", AssumptionStatus.RECORDED),) if run is not None and run.accesses else ()
    boxes = box_traffic([values for each in classes for values in each.values], settings.launch, pipeline)
    named = (BOXES,) if boxes or settings.launch.maps else ()
    return traffic(followed, pipeline, (*assumptions(followed), *named, *limited), boxes)


def _as_seen(followed: Iterable[Access], run: "WholeRun") -> tuple[Access, ...]:
    """The accesses, of which none takes more than in a run of all warps that says what any may take."""
    return tuple(
        limited_to(access, most) if (most := run.accesses.get((access.address, access.space))) is not None else access
        for access in followed
    )


def _bounds(  # noqa: PLR0913, PLR0917 - a graph, and all that is known of it
    cfg: WarpCfg,
    isa: Isa,
    settings: Settings,
    values: WarpValues | None = None,
    file: str = "",
    before: AnalysisResult | None = None,
) -> "tuple[LoopBounds, WholeRun | None]":
    """The bounds of the loops, and a run of all warps of the launch, where there was one.

    They are flow facts, then what the code itself says for the launch, then the default.

    An inferred bound that a run refutes is discarded: the loop has a gap, and the defect is warned of.
    """
    reaching = settings.launch != LaunchConfiguration() and not settings.experiment
    facts_of = clobbering(variables(isa), cfg.externals)
    said = Inference() if settings.setup.paper else inference(cfg, facts_of, settings.launch, reaching=reaching)
    inferred, excluded = said.loops, {*said.unreached}
    checked = False
    is_bounded = any(loop.bound is not None for loop in inferred)
    if settings.check and is_bounded and all(external.address in ended(isa) for external in cfg.externals):
        from sassan.ipet.loop_bounds.recheck import check as check_bounds  # noqa: PLC0415 - start-up: most functions have no loop

        held = check_bounds(cfg, isa.facts, settings.launch, inferred)
        inferred, checked = held.results, held.ran
        _warn(held.refuted, cfg.function, settings.launch, file)
        if wrong := excluded & held.blocks:
            _warn_of_blocks(wrong, cfg.function, settings.launch, file)
            excluded = set()
    inferred = with_waits(cfg, inferred, _entering(values))
    is_known = before is not None and len(before.cfg.loops) == len(cfg.loops)
    run = before.run if is_known and before is not None else _run(cfg, isa, settings, inferred, values)
    inferred = with_extents(_by_run(inferred, run))
    bounds = flow_facts.bounds_of(cfg, settings.facts, settings.loop_bound, inferred, checked=checked)
    bounds = flow_facts.without_blocks(cfg, bounds, sorted({*excluded, *(unreached(values) if values is not None else ())}))
    if run is not None and run.executions is not None:
        bounds = flow_facts.with_executions(bounds, run.executions, run.why, recorded=run.recorded)
    if Origin.INFERRED not in bounds.origins:
        return bounds, run
    launch = (f"launch as given: {text}",) if (text := settings.launch.describe(cfg.function)) else ()
    unrun = "PTX is not run" if cfg.function.language is Language.PTX else "the SIMT machine has no rule for some instruction"
    # Where no check is asked for, no number is a bound, and nothing rests on one.
    unchecked = (f"inferred bounds were not checked by a run: {unrun}",) if settings.check and not checked else ()
    return replace(bounds, assumptions=(*launch, *bounds.assumptions, *unchecked)), run


def _entering(values: WarpValues | None) -> Callable[[int], int] | None:
    """How many threads of a warp may execute a node, by its number; None where registers are not followed."""
    return None if values is None else lambda node: most_threads(values.lanes(node), len(values.threads))


def _run(cfg: WarpCfg, isa: Isa, settings: Settings, inferred: Sequence[Inferred], values: WarpValues | None) -> "WholeRun | None":
    """A run of all warps of the launch, where it may say more of loops without a bound, or with a loose one, or of addresses from data."""
    facts = settings.facts.of(cfg.function.name) if settings.facts is not None else None
    given = {head for head, _ in facts.bounds} if facts is not None else set[int]()
    wanted = [
        loop.loop
        for loop in inferred
        if loop.bound is None and loop.refutation is None and loop.head not in given
        if loop.ended is None or loop.ended.ending not in _OTHERS
    ]
    loose = [] if wanted else [loop.loop for loop in inferred if (loop.bound or 0) >= _LOOSE and cfg.loops[loop.loop].parent is not None]
    if settings.experiment or settings.launch.block is None or settings.launch.grid is None:
        return None
    from sassan.ipet.loop_bounds.whole_run import whole_run  # noqa: PLC0415 - start-up: it runs launches

    facts_of, launch, loops = clobbering(isa.facts, cfg.externals), settings.launch, wanted or loose
    if values is not None and waits(cfg):
        # Of code that waits for others, the part is run that decides how often other loops iterate.
        return whole_run(cfg, facts_of, launch, wanted, sliced=True, divided=_divisions(cfg, launch, values)) if wanted else None
    known = values if launch.contents is not None and _moves(settings) else None
    spread = [(each.address, each.space) for each in accesses(known) if each.waste] if known is not None else []
    run = whole_run(cfg, facts_of, launch, loops, spread, is_long=bool(wanted or spread))
    if run is None and any(edge.kind is EdgeKind.DIVERGE for edge in cfg.edges):
        run = whole_run(cfg, facts_of, launch, is_long=False, alike=True)
    return run


def _divisions(cfg: WarpCfg, launch: LaunchConfiguration, values: WarpValues) -> Divisions:
    """The divisions of a graph by numbers that are known for the launch."""
    starts = {block: state.words for block, state in values.flow.starts.items()}
    return divisions(values.flow.blocks.values(), values.facts, LaunchEnvironment(cfg.function, launch), starts)


def _by_run(inferred: tuple[Inferred, ...], run: "WholeRun | None") -> tuple[Inferred, ...]:
    """The inferred bounds, with those that a run of all warps of the launch says where a loop has none, or a loose one."""
    if run is None:
        return inferred
    return tuple(
        replace(loop, bound=edges, reason=run.why, missing=frozenset(), recorded=run.recorded)
        if edges is not None and loop.refutation is None and (loop.bound is None or edges < loop.bound)
        else loop
        for loop, edges in zip(inferred, run.back_edges, strict=True)
    )


def _warn(refuted: Iterable[Inferred], function: Function, launch: LaunchConfiguration, file: str) -> None:
    """Warn of each loop whose inferred bound was refuted, with what shows it again: runs are the same for the same code and launch."""
    place = " of ".join((repr(function.name), *([repr(file)] if file else [])))
    for loop in refuted:
        assert loop.refutation is not None
        bound, seen, argument = loop.refutation
        claim = f"at most {bound} back edges per entry were inferred ({argument}), and a run took {seen}"
        where = f"{function.arch}, text {function.text_hash}, {launch.describe(function) or 'no launch given'}"
        warnings.warn(
            f"{place}, loop at 0x{loop.head:04x}: {claim}; this is a defect of sassan {__version__}: report it with the input ({where})",
            DefectWarning,
            stacklevel=2,
        )


def _warn_of_blocks(blocks: Iterable[int], function: Function, launch: LaunchConfiguration, file: str) -> None:
    """Warn of blocks that a run executed though they were excluded."""
    place = " of ".join((repr(function.name), *([repr(file)] if file else [])))
    which = ", ".join(f"0x{block:04x}" for block in sorted(blocks))
    where = f"{function.arch}, text {function.text_hash}, {launch.describe(function) or 'no launch given'}"
    warnings.warn(
        f"{place}: a run executed the blocks at {which}, which no thread should reach; this is a defect of sassan {__version__}: report it "
        f"with the input ({where})",
        DefectWarning,
        stacklevel=2,
    )


def _string(node: Node, isa: Isa) -> KernelString | None:
    facts = [isa.facts(instruction) for instruction in node.code]
    known = [fact.letter for fact in facts if fact is not None]
    return letters(known) if len(known) == len(facts) else None


def _worst_path(cfg: WarpCfg, bound: Wcet, strings: tuple[KernelString | None, ...]) -> KernelString | None:
    if bound.path is None:
        return None
    empty = KernelString()
    return path_string(path_blocks(cfg, bound.path), [string or empty for string in strings])


def same_name(name: str) -> UsageError:
    """The error for two functions of one name where flow facts are written: they could not say which is meant."""
    message = f"two functions are called '{name}', and flow facts go by name"
    return UsageError("same-name", message, hint="dump one architecture at a time: cuobjdump -sass -arch sm_61")


def flow_fact_template(functions: tuple[Function, ...], settings: Settings) -> str:
    """The flow-fact file with every loop that still needs a bound, to be filled in.

    Raises UsageError when two functions have the same name: a fact could not say which it means.
    """
    twice = next((name for name, count in Counter(function.name for function in functions).items() if count > 1), None)
    if twice is not None:
        raise same_name(twice)
    graphs = tuple(warp_graph(function, settings) for function in functions)
    return template((cfg, _bounds(cfg, isa_of(cfg.function, settings.letters), settings)[0]) for cfg in graphs)
