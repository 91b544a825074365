"""Pieces of a soundness run: one sample function, or a handful of random programs, each a task for a worker process."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice

from samples import names, program
from sassan.domains.warp import ABLATIONS
from sassan.errors import SassanError
from sassan.ir import Function
from sassan.isa import tables
from sassan.simt.state import SideOrder
from sassan.warpcfg import Options, explore
from sassan.warpcfg.options import EITHER, TAKEN_FIRST
from soundness import generator, generator_volta
from soundness.mutants import Case, Mutant, case_of, noticed
from soundness.mutations import MUTATIONS
from soundness.mutations_volta import VOLTA_MUTATIONS
from soundness.oracles import Finding, Plan, Report, inspect, since_volta

VARIANTS = (
    *[Options()] * 6,
    Options(order=EITHER),
    Options(order=EITHER, call_depth=0),
    Options(call_depth=0),
    Options(call_depth=1),
    *(Options(ablate=frozenset({name})) for name in sorted(ABLATIONS)),
)
"""What random programs are explored with, by their seed: every choice gives a graph that runs must not leave."""

VOLTA_VARIANTS = (
    *[Options()] * 8,
    Options(order=TAKEN_FIRST),
    Options(call_depth=0),
    Options(call_depth=1),
    *(Options(ablate=frozenset({name})) for name in sorted(ABLATIONS)),
)
PROGRAMS = {"random": (generator.program, VARIANTS), "volta": (generator_volta.program, VOLTA_VARIANTS)}
"""Random programs by their group: who draws them from a seed, and what they are explored with."""
ARCHS = ("sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120")

MUTATION_PLAN = Plan(16, 5, steps=150)
VOLTA_PLAN = Plan(12, 5, steps=100, order=SideOrder.RANDOM, free=4)
TELLING = (3, 8, 29, 77)
"""Random programs since Volta in which rare mutations show: the first to be tried."""
FREE = 4
"""One run in so many has a further one in which sides take turns."""

CHUNK = 2000
"""Runs of one sample function that execute together."""


@dataclass(frozen=True, slots=True)
class Task:
    """Functions `first` to `last` of one sample, or random programs of the seeds from `first` to `last`, `last` not among them."""

    group: str
    first: int
    last: int
    runs: int
    seed: int
    steps: int
    options: Options = VARIANTS[0]


@dataclass(slots=True)
class Tally:
    """What a task looked at: sums over what it inspected; `skipped` are functions with gaps, each with its reason."""

    group: str
    inspected: int = 0
    runs: int = 0
    transitions: int = 0
    ended: int = 0
    edges: int = 0
    edges_seen: int = 0
    claims: int = 0
    interleaved: int = 0
    skipped: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def add(self, report: Report) -> None:
        self.inspected += 1
        self.runs += report.runs
        self.transitions += report.transitions
        self.ended += report.ended
        self.edges += report.edges
        self.edges_seen += report.edges_seen
        self.claims += report.claims_checked
        self.interleaved += report.interleaved
        self.findings += report.findings

    def merge(self, other: "Tally") -> None:
        for name in ("inspected", "runs", "transitions", "ended", "edges", "edges_seen", "claims", "interleaved"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped += [one for one in other.skipped if one not in self.skipped]
        self.findings += other.findings


def sample_tasks(runs: int, seed: int, steps: int, archs: tuple[str, ...] = ARCHS) -> Iterator[Task]:
    """Yield tasks for every function of every sample, `runs` runs each; until Pascal, some more with sides in either order."""
    for arch in archs if runs else ():
        for name in names(arch):
            functions = range(len(program(arch, name).functions))
            for index in functions:
                for number, start in enumerate(range(0, runs, CHUNK)):
                    yield Task(f"{arch}/{name}", index, index + 1, min(CHUNK, runs - start), seed + number, steps)
                if arch in ARCHS[:2]:
                    yield Task(f"{arch}/{name}", index, index + 1, min(CHUNK, runs), seed, steps, Options(order=EITHER))


def program_tasks(group: str, programs: int, runs: int, seed: int, steps: int) -> Iterator[Task]:
    """Yield tasks for random programs of a group, 50 each."""
    for start in range(0, programs, 50):
        yield Task(group, seed + start, seed + min(start + 50, programs), runs, seed, steps)


def carry_out(task: Task) -> Tally:
    """Return what a task found; every program of it is explored once."""
    tally = Tally(task.group)
    for number, function in enumerate(_functions(task), task.first):
        plan = Plan(task.runs, task.seed, task.steps, solve=1)
        variants = PROGRAMS[task.group][1] if task.group in PROGRAMS else (task.options,)
        check(function, plan, tally, variants[number % len(variants)])
    return tally


def _functions(task: Task) -> Iterator[Function]:
    if task.group in PROGRAMS:
        draw = PROGRAMS[task.group][0]
        yield from (draw(seed) for seed in range(task.first, task.last))
        return
    arch, name = task.group.split("/")
    yield from program(arch, name).functions[task.first : task.last]


def check(function: Function, plan: Plan, tally: Tally, options: Options = VARIANTS[0]) -> None:
    """Inspect one function and add the outcome to the tally; a function with gaps has no graph to hold anything to."""
    volta = since_volta(function.arch)
    order = SideOrder.RANDOM if options.of_generation(volta=volta).order == EITHER else SideOrder.TAKEN_FIRST
    free = -(-plan.runs // FREE) if volta and order is SideOrder.RANDOM else 0
    plan = replace(plan, order=order, call_depth=options.call_depth, free=free)
    cfg = explore(function, tables.load(function.arch).facts, options)
    if cfg.gaps:
        cut = "" if options.call_depth is None else f" (with --call-depth {options.call_depth})"
        tally.skipped.append(f"{function.name}: {cfg.gaps[0].code} at {cfg.gaps[0].address:#x}{cut}")
        return
    try:
        tally.add(inspect(function, cfg, plan))
    except SassanError as error:
        tally.findings.append(Finding(error.code, function.name, plan.seed, -1, error.message))


def mutation_cases() -> Iterator[Case]:
    """Yield the programs that are mutated: three samples with calls and loops, and random ones; the first few are often enough."""
    yield from (_shipped_case("sm_61", name) for name in ("call_early_exit", "loop_break_continue"))
    yield from (_drawn_case(generator.program, seed) for seed in range(60))
    yield _shipped_case("sm_61", "calls_nested")  # the largest


def volta_cases() -> Iterator[Case]:
    """Yield the programs since Volta that are mutated."""
    yield from (_drawn_case(generator_volta.program, seed) for seed in dict.fromkeys((*TELLING, *range(90))))
    named = (("sm_70", "calls_nested"), ("sm_75", "loop_break_continue"), ("sm_90", "switch_brx"), ("sm_90", "call_early_exit"))
    yield from (_shipped_case(arch, name) for arch, name in named)


@cache
def _shipped_case(arch: str, name: str) -> Case:
    return case_of(program(arch, name).functions[0], tables.load(arch).facts)


@cache
def _drawn_case(draw: Callable[[int], Function], seed: int) -> Case:
    function = draw(seed)
    return case_of(function, tables.load(function.arch).facts)


KINDS = (*(("", kind) for kind in MUTATIONS), *(("volta", kind) for kind in VOLTA_MUTATIONS))
"""Every kind of mutation: until Pascal, and since Volta."""


def mutants(generation: str, kind: str) -> Iterator[tuple[Case, Mutant]]:
    """Yield mutants of one kind, at most two per program."""
    cases, make = (volta_cases(), VOLTA_MUTATIONS[kind]) if generation else (mutation_cases(), MUTATIONS[kind])
    return ((case, mutant) for case in cases if not case.cfg.gaps for mutant in islice(make(case), 2))


def is_noticed(generation: str, kind: str) -> bool:
    """Say whether some mutant of the kind is noticed; the first one that is ends the search."""
    plan = VOLTA_PLAN if generation else MUTATION_PLAN
    return any(noticed(case, mutant, plan) is not None for case, mutant in mutants(generation, kind))


def notice_rate(generation: str, kind: str) -> tuple[int, int]:
    """Return how many mutants of the kind are noticed, out of how many."""
    plan = VOLTA_PLAN if generation else MUTATION_PLAN
    found = [noticed(case, mutant, plan) is not None for case, mutant in mutants(generation, kind)]
    return sum(found), len(found)
