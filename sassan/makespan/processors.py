"""The processor of a configuration, and its assumptions."""

from collections.abc import Iterator
from fractions import Fraction

from sassan.alphabet import UNITS, Letter
from sassan.machine import Multiprocessor
from sassan.makespan.configuration import MakespanConfiguration
from sassan.makespan.problem import Processor
from sassan.strings.kernel_string import KernelString

MODEL = "each warp runs its string in order, one instruction per slot at most; the SM is work-conserving, any warp may use any unit"
_ONES = "no capacities were given: each unit runs 1 instruction per slot"


def processor(
    strings: tuple[KernelString, ...], configuration: MakespanConfiguration, sm: Multiprocessor | None, *, options: bool = False
) -> tuple[Processor, tuple[str, ...]]:
    """Return what an SM runs per slot, overridden by the configuration, and the assumptions.

    Without an SM and capacities each used unit runs 1 instruction per slot. `options`: assumptions name the command-line options that
    they come from.
    """
    capacity: dict[Letter, Fraction] = {}
    issue = configuration.issue
    assumptions: tuple[str, ...] = ()
    if sm is not None:
        capacity = {letter: _part(sm, letter) if configuration.partition else sm.capacity(letter) for letter in sm.letters}
        issue = issue if issue is not None else sm.dispatch if configuration.partition else sm.issue
        assumptions = sm.partition_assumptions if configuration.partition else sm.assumptions
    elif not configuration.capacity:
        used = {letter for string in strings for letter, count in string.counts().items() if count}
        capacity = {letter: Fraction(1) for letter in UNITS if letter in used}
        assumptions = (_ONES + (" (--cap, --sm)" if options else ""),)
    changes = _changes(configuration, replaces=sm is not None, options=options)
    return Processor(capacity | dict(configuration.capacity), dict(configuration.latency), issue, dict(configuration.interval)), (
        *assumptions,
        *changes,
    )


def _part(sm: Multiprocessor, letter: Letter) -> Fraction:
    """Return the capacity of one partition; of a shared unit, an equal share."""
    return sm.partition_capacity(letter) / (sm.schedulers if sm.is_shared(letter) else 1)


def _changes(configuration: MakespanConfiguration, *, replaces: bool, options: bool) -> Iterator[str]:
    """Yield the capacities that the user set instead of an SM's (`replaces`), and the times other than one slot."""
    cap, latency, interval = ("--cap: ", "--latency: ", "--interval: ") if options else ("", "", "")
    for letter, value in configuration.capacity.items() if replaces else ():
        yield f"{cap}{letter} runs {value} per slot"
    for letter, slots in configuration.latency.items():
        if slots != 1:
            yield f"{latency}an instruction of {letter} takes {slots} slots"
    for letter, slots in configuration.interval.items():
        yield f"{interval}an instruction of {letter} holds its unit for {'1 slot' if slots == 1 else f'{slots} slots'}"
