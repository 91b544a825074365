"""How far the bound of a task moves when a figure that it rests on is 10 % worse: figures of the product, latencies, the rate of copies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor

from sassan.app.analysis import recosted
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.app.task.response import OtherTask, TaskResponse, TaskRun, response
from sassan.assumptions import AssumptionStatus
from sassan.ipet.sm.gpu import memory_of
from sassan.products import ON_TARGET, Product
from sassan.timing.control import ControlCostModel
from sassan.timing.cycles import CycleCostModel
from sassan.timing.latencies import Figure
from sassan.timing.rates import Tables, code_of
from sassan.timing.table import TableCostModel

_LESS, _MORE = Fraction(9, 10), Fraction(11, 10)
_ASSUMED = "assumed"
"""The begin of the sources of figures that no publication has."""


@dataclass(frozen=True, slots=True)
class TaskTerm:
    """A figure, what backs it, its value, and by how many microseconds the bound grows when it is 10 % worse; None: no bound then."""

    figure: str
    status: AssumptionStatus
    value: str
    moves: Fraction | None


@dataclass(frozen=True, slots=True)
class _Change:
    """One figure made worse: what becomes of the settings of a launch, and of the product."""

    figure: str
    status: AssumptionStatus
    value: str
    settings: Callable[[Settings, Product], Settings]
    product: Product


def terms(task: TaskResponse, steps: Callable[[Sequence["_Change"]], Iterator["_Change"]] = iter) -> tuple[TaskTerm, ...]:
    """Return the figures of a bound, those that move it most first; nothing where there is no bound. `steps` watches the progress."""
    bound = task.bound
    if bound is None:
        return ()
    out = [_term(task, bound, change) for change in steps(list(_changes(task)))]
    if (rate := task.definition.copy_rate) is not None and any(each.copied.host for each in task.steps):
        slower = replace(task.definition, copy_rate=rate * _LESS)
        moved = _bound(replace(task, definition=slower), _Change("copy rate", AssumptionStatus.ASSUMED, "", _unchanged, task.gpu))
        out.append(TaskTerm("copy rate", AssumptionStatus.ASSUMED, f"{float(rate):g} GB/s", None if moved is None else moved - bound))
    return tuple(sorted(out, key=lambda term: (term.moves is not None, -(term.moves or 0), term.figure)))


def _term(task: TaskResponse, bound: Fraction, change: _Change) -> TaskTerm:
    moved = _bound(task, change)
    return TaskTerm(change.figure, change.status, change.value, None if moved is None else moved - bound)


def _bound(task: TaskResponse, change: _Change) -> Fraction | None:
    """Return the bound of a task with a figure made worse."""
    known = dict[int, AnalysisResult]()

    def changed(result: AnalysisResult | None) -> AnalysisResult | None:
        """The result with that figure; equal ones are computed once."""
        if result is None or change.settings is _unchanged:
            return result
        if id(result) not in known:
            known[id(result)] = recosted(result, change.settings(result.settings, change.product))
        return known[id(result)]

    def run(of: TaskResponse | OtherTask) -> TaskRun:
        # What launches take alone is no part of the bound where they overlap.
        launches = [each.launch if task.interfered else replace(each.launch, result=changed(each.launch.result)) for each in of.steps]
        among = [changed(each.among) for each in of.steps]
        return TaskRun(of.definition, of.recording, launches, [None] * len(launches), among)

    return response(change.product, run(task), [run(other) for other in task.others]).bound


def _changes(task: TaskResponse) -> Iterator[_Change]:
    yield from _of_product(task.gpu)
    yield from _of_latencies(task)


def _of_product(gpu: Product) -> Iterator[_Change]:
    """Yield the figures of a product, each 10 % worse."""
    boost, kept = floor(gpu.boost_clock * _LESS), floor(gpu.kept_clock * _LESS) if gpu.kept_clock is not None else None
    l2 = memory_of(gpu).l2
    changed: tuple[tuple[str, str, str, Product], ...] = (
        ("clock of the SMs", "boost_clock", f"{gpu.boost_clock} MHz", replace(gpu, boost_clock=boost, kept_clock=kept)),
        ("DRAM efficiency", "dram_efficiency", f"{gpu.dram_efficiency:g}", replace(gpu, dram_efficiency=gpu.dram_efficiency * 0.9)),
        (
            "L2 bandwidth",
            "l2_bytes_per_cycle",
            f"{float(l2):.0f} bytes a cycle",
            replace(gpu, l2_bytes_per_cycle=max(1, floor(l2 * _LESS))),
        ),
        ("launch overhead", "launch_us", f"{gpu.launch_us:g} us", replace(gpu, launch_us=gpu.launch_us * 1.1)),
        ("time between launches", "between_us", f"{gpu.between_us:g} us", replace(gpu, between_us=gpu.between_us * 1.1)),
        ("dispatch of blocks", "block_cycles", f"{gpu.block_cycles:g} cycles", replace(gpu, block_cycles=gpu.block_cycles * 1.1)),
    )
    for figure, key, value, product in changed:
        yield _Change(figure, _status(gpu, key), value, _on, product)
    if gpu.dram_share < 1:
        share = gpu.dram_share * _LESS
        yield _Change(
            "share of DRAM", _status(gpu, "dram_share"), f"{float(gpu.dram_share):.1%}", _on_share, replace(gpu, dram_share=share)
        )


def _status(gpu: Product, figure: str) -> AssumptionStatus:
    source = dict(gpu.sources).get(figure, _ASSUMED)
    if source.startswith(ON_TARGET):
        return AssumptionStatus.RECORDED
    return AssumptionStatus.ASSUMED if source.startswith(_ASSUMED) else AssumptionStatus.PUBLISHED


def _unchanged(settings: Settings, _: Product) -> Settings:
    return settings


def _on(settings: Settings, product: Product) -> Settings:
    return replace(settings, gpu=product)


def _on_share(settings: Settings, product: Product) -> Settings:
    """The settings with a smaller share: latencies that wait for DRAM grow by as much."""
    return _with_tables(_on(settings, product), lambda tables: replace(tables, waiting=product.waiting))


def _of_latencies(task: TaskResponse) -> Iterator[_Change]:
    """Yield the latencies of the classes of instructions that kernels have, each 10 % longer."""
    seen = dict[str, tuple[AssumptionStatus, int]]()
    for each in (*task.steps, *(step for other in task.others for step in other.steps)):
        result = each.launch.result
        tables = result.settings.costs.tables if result is not None else None
        if result is None or tables is None:
            continue
        rates = tables.rates(result.function.arch)
        for opcode in dict.fromkeys(instruction.opcode for instruction in code_of(result.cfg)):
            kind = rates.kind(opcode)
            cycles = rates.latencies.cycles(kind.name) if kind is not None else None
            if kind is not None and cycles is not None:
                figure = rates.latencies.figure(kind.name)
                seen[kind.name] = (_status_of_latency(kind.name, figure, tables, task.gpu), cycles)
    for name, (status, cycles) in sorted(seen.items()):
        longer = ceil(cycles * _MORE)
        yield _Change(
            f"latency {name}",
            status,
            f"{cycles} cycles",
            partial(_with_latency, name, longer),
            task.gpu,
        )


def _status_of_latency(name: str, figure: Figure | None, tables: Tables, gpu: Product) -> AssumptionStatus:
    """What backs a latency: what the user gives goes over the machine file, that over the product, and that over the table."""
    if name in tables.given or (tables.file is not None and name in tables.file.latency):
        return AssumptionStatus.ASSUMED
    if name in dict(tables.product):
        return _status(gpu, "latency")
    return AssumptionStatus.ASSUMED if figure is None or figure.unsure else AssumptionStatus.PUBLISHED


def _with_latency(name: str, cycles: int, settings: Settings, product: Product) -> Settings:
    return _with_tables(_on(settings, product), lambda tables: replace(tables, given={**tables.given, name: cycles}))


def _with_tables(settings: Settings, changed: Callable[[Tables], Tables]) -> Settings:
    costs = settings.costs
    if not isinstance(costs, ControlCostModel | CycleCostModel | TableCostModel):
        return settings
    return replace(settings, costs=replace(costs, tables=changed(costs.tables)))
