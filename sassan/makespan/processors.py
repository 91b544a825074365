"""The processor that a configuration asks for, and what is taken for granted with it."""

from collections.abc import Iterator
from fractions import Fraction

from sassan.alphabet import Letter
from sassan.machine import Multiprocessor
from sassan.makespan.configuration import Configuration
from sassan.makespan.problem import Processor
from sassan.strings.kernel_string import KernelString

MODEL = "each warp runs its string in order, one instruction per slot at most; the SM is work-conserving, any warp may use any unit"
_ONES = "no capacities were given: each unit runs 1 instruction per slot"


def processor(
    strings: tuple[KernelString, ...], told: Configuration, sm: Multiprocessor | None, *, options: bool = False
) -> tuple[Processor, tuple[str, ...]]:
    """Return what an SM does per slot, with what is told over it, and the assumptions; without both, each unit that is used runs one.

    `options`: the assumptions name the options of the command line that they come from.
    """
    capacity: dict[Letter, Fraction] = {}
    issue = told.issue
    said: tuple[str, ...] = ()
    if sm is not None:
        capacity = {letter: _part(sm, letter) if told.partition else sm.capacity(letter) for letter in Letter}
        issue = issue if issue is not None else sm.dispatch if told.partition else sm.issue
        said = sm.partition_assumptions if told.partition else sm.assumptions
    elif not told.capacity:
        used = {letter for one in strings for letter, count in one.counts().items() if count}
        capacity = {letter: Fraction(1) for letter in Letter if letter in used}
        said = (_ONES + (" (--cap, --sm)" if options else ""),)
    changed = _changes(told, over=sm is not None, options=options)
    return Processor(capacity | dict(told.capacity), dict(told.latency), issue), (*said, *changed)


def _part(sm: Multiprocessor, letter: Letter) -> Fraction:
    """Return the capacity of one partition; of a unit that all share, an even part."""
    return sm.partition_capacity(letter) / (sm.schedulers if sm.is_shared(letter) else 1)


def _changes(told: Configuration, *, over: bool, options: bool) -> Iterator[str]:
    """Yield what the user changed of an SM (`over` one), and of instructions that take one slot."""
    cap, latency = ("--cap: ", "--latency: ") if options else ("", "")
    for letter, value in told.capacity.items() if over else ():
        yield f"{cap}{letter} runs {value} per slot"
    for letter, slots in told.latency.items():
        if slots != 1:
            yield f"{latency}an instruction of {letter} takes {slots} slots"
