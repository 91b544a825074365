"""A run that holds every transfer function of loop inference to the concrete machine; what is held is enumerated from its tables.

language X     a function of the language of effects, for SASS and for PTX (`language.py`)
path X         what a path knows afterwards (`paths.py`)
sm_61 PRMT     an effect of an opcode table on the SIMT machine (`effects.py`); an effect that an older table has is not held again
ptx shl.b32    an effect of the PTX table, held to the PTX ISA (`inferred_ptx.py`)
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from random import Random

import inferred_ptx
from effects import Case, cases, drawn
from inferred_step import is_computed
from listing import assemble
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.isa.tables import load
from sassan.machine.launch import LaunchConfiguration
from sassan.simt.values import LANES
from soundness.functions import language, paths

ARCHS = ("sm_61", "sm_75", "sm_90", "sm_120")
"""One for each opcode table."""
WARPS = 32
WORLDS = 1024
OF_OTHERS = frozenset({"lane", "picked", "shuffled"})
"""Functions whose result is that of other threads: no machine for one instruction computes it."""
MOST_DRAWS = 40
"""An effect is drawn so many times as often as it would be if each draw were computed, at most."""

Check = Callable[[Random], tuple[int, str]]
"""One draw: how many tuples of operands it tries, and what is wrong, '' where nothing is."""


@dataclass(slots=True)
class Held:
    """What was tried of one function: tuples of operands, draws of abstract ones, the first findings, and when the first one was met."""

    name: str
    tuples: int = 0
    draws: int = 0
    seconds: float = 0.0
    findings: int = 0
    first: str = ""


def names() -> Iterator[str]:
    """Yield the names of all functions."""
    yield from (f"language {name}" for name in language.READ)
    yield from (f"path {name}" for name in paths.CASES)
    yield from _effects()
    yield from (f"ptx {opcode}" for opcode in inferred_ptx.OPCODES if not opcode.startswith("ld"))


@cache
def _effects() -> dict[str, tuple[str, Case]]:
    """Return the effects of all tables that a thread computes alone, each with the first architecture that has it."""
    out: dict[str, tuple[str, Case]] = {}
    seen: set[object] = set()
    for arch in ARCHS:
        for case in cases(arch):
            same = (case.name, case.effect, case.row.forms)
            if same not in seen and case.effect.functions.isdisjoint(OF_OTHERS):
                seen.add(same)
                name = f"{arch} {case}"
                out[name if name not in out else f"{name} ({len(out)})"] = arch, case
    return out


def check_of(name: str) -> Check:
    """Return the check of a function."""
    group, _, what = name.partition(" ")
    match group:
        case "language":
            return partial(language.check, name=what)
        case "path":
            return partial(paths.check, name=what)
        case "ptx":
            return partial(_ptx, what)
        case _:
            arch, case = _effects()[name]
            return partial(_effect, case, LaunchSymbols(assemble("EXIT", arch).function, LaunchConfiguration()))


def _effect(case: Case, around: LaunchSymbols, random: Random) -> tuple[int, str]:
    one = drawn(random, case)
    facts = load(around.function.arch).facts(one)
    if facts is None or facts.computes is None or facts.computes.effect is not case.effect or not facts.writes:
        return 0, ""
    try:
        return WARPS * LANES * is_computed(random, one, around, WARPS), ""
    except AssertionError as error:
        return WARPS * LANES, " ".join(map(str, error.args))


def _ptx(opcode: str, random: Random) -> tuple[int, str]:
    try:
        inferred_ptx.hold(random, opcode, WORLDS)
    except AssertionError as error:
        return WORLDS, " ".join(map(str, error.args))
    return WORLDS, ""


def hold_function(name: str, tuples: int, seed: int, *, first: bool = False) -> Held:
    """Return what so many tuples of operands of a function show, at least, or some draws; `first`: until the first finding."""
    random, check, held = Random(f"functions {seed} {name}"), check_of(name), Held(name)
    started = time.perf_counter()
    while held.tuples < tuples and held.draws < MOST_DRAWS * (1 + tuples // WORLDS):
        try:
            tried, wrong = check(random)
        except Exception as error:  # noqa: BLE001  # whatever a wrong function raises
            tried, wrong = WORLDS, f"raised {error!r}"
        held.tuples += tried
        held.draws += 1
        if wrong and not held.first:
            held.first = f"after {held.tuples} tuples, {time.perf_counter() - started:.1f} s: {wrong}"
        held.findings += bool(wrong)
        if wrong and first:
            break
    held.seconds = time.perf_counter() - started
    return held
