"""Keeps the programs whose optima a bound is made of, each with its purpose, while somebody asks for them: a certificate does."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from sassan.ilp.model import Model
from sassan.ilp.solve import Solution


class SolvedProgram(NamedTuple):
    """A program that was solved: its optimum is in 1/`scale` of a cycle, and counts `times` times."""

    model: Model
    solution: Solution
    scale: int
    times: int


Programs = dict[str, list[SolvedProgram]]
"""By purpose: an optimum is the sum over its programs."""
_KEPT: ContextVar[Programs | None] = ContextVar("programs", default=None)
_PURPOSE = ContextVar("purpose", default="")
_TIMES = ContextVar("times", default=1)


@contextmanager
def kept() -> Generator[Programs]:
    """Keep the programs that are solved in a block for a purpose."""
    programs: Programs = {}
    token = _KEPT.set(programs)
    try:
        yield programs
    finally:
        _KEPT.reset(token)


def keeping() -> bool:
    """Return whether programs are kept."""
    return _KEPT.get() is not None


@contextmanager
def purpose(name: str) -> Generator[None]:
    """Say what the programs of a block are for; those that an earlier block solved for it are forgotten."""
    programs = _KEPT.get()
    if programs is not None:
        programs[name] = []
    token = _PURPOSE.set(name)
    try:
        yield
    finally:
        _PURPOSE.reset(token)


@contextmanager
def counted(times: int) -> Generator[None]:
    """Say how often the programs of a block count."""
    token = _TIMES.set(times)
    try:
        yield
    finally:
        _TIMES.reset(token)


def solved(model: Model, solution: Solution, scale: int) -> None:
    """Take a program that was solved."""
    programs, name = _KEPT.get(), _PURPOSE.get()
    if programs is not None and name:
        programs[name].append(SolvedProgram(model, solution, scale, _TIMES.get()))
