"""Limits of numbers on the command line, and those of a command: its time and its memory."""

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, TypeVar

import typer

from sassan.cli.options.panels import Panel
from sassan.cli.output.exhaustion import limited, memory_available
from sassan.cli.output.terminal import every_gap, mangled

MANY = 2**31 - 1
"""Numbers beyond this are typing errors; solvers would round them."""
SECONDS = 600.0
"""Of a command, unless --time-limit says otherwise: a person notices ten minutes."""
_GIB = 1 << 30
_TIME, _MEMORY = "time_limit", "memory_limit"
_NAMES, _GAPS = "mangled", "gaps"
_WITH_GAPS = frozenset(
    {"advise", "analyze", "blocks", "cfg", "estimate", "ipet", "listing", "makespan", "memory", "strings", "task", "validate"}
)
"""Commands that print gaps by cause."""
_NAMELESS = frozenset({"gpus", "measure", "verify-certificate", "warm"})
"""Commands that print no name of a function."""
_LONG = frozenset({"evolve", "measure", "rank"})
"""Commands that may run for hours."""
_SEARCHES = {"makespan": 1, "report": 100}
"""Commands whose --time-limit is that of a search, and the searches for which the whole command has time beside its ten minutes."""
_SEARCH = 10.0
"""Seconds of a search without a limit of its own."""
_STARTS_PROGRAMS = frozenset({"measure", "record"})
"""Commands that start programs of the user, which inherit the limit on memory."""

_limit = partial(typer.Option, min=0.001, max=1e6, rich_help_panel=Panel.RESOURCES)
_output = partial(typer.Option, rich_help_panel=Panel.OUTPUT)

Command = Callable[..., None]
N = TypeVar("N", float, float | None)


def with_limits(name: str, command: Command) -> Command:
    """Return a command with --memory-limit, --mangled, --gaps and, unless it has one of its own, --time-limit."""
    signature = inspect.signature(command)
    seconds = None if name in _LONG else SECONDS
    half = None if name in _STARTS_PROGRAMS else memory_available() / _GIB / 2
    time = _limit(
        "--time-limit",
        metavar="S",
        help="Seconds of the command: what is not done by then is refused.",
        show_default="600" if seconds else "none",
    )
    memory = _limit(
        "--memory-limit",
        metavar="GIB",
        help="GiB of memory of the command: what needs more is refused.",
        show_default="half of the memory" if half else "none",
    )
    names = _output("--mangled", help="Print the names of functions as they are in the input.")
    every = _output("--gaps", help="Print every gap with its place, and not one line for those of one cause.")
    added = {_MEMORY: (Annotated[float | None, memory], half)}
    if _TIME not in signature.parameters:
        added = {_TIME: (Annotated[float | None, time], seconds), **added}

    @wraps(command)
    def run(**given: object) -> None:
        limits: dict[str, float | None] = {_TIME: None}
        limits.update({option: _number(given.pop(option), default) for option, (_, default) in added.items()})
        if name in _SEARCHES:
            limits[_TIME] = SECONDS + _SEARCHES[name] * _number(given.get(_TIME), _SEARCH)
        gib = limits[_MEMORY]
        shown = mangled(bool(given.pop(_NAMES, False))), every_gap(bool(given.pop(_GAPS, False)))
        with shown[0], shown[1], limited(limits[_TIME], None if gib is None else int(gib * _GIB)):
            command(**given)

    kinds: dict[str, tuple[object, object]] = {option: (kind, None) for option, (kind, _) in added.items()}
    if name not in _NAMELESS:
        kinds[_NAMES] = (Annotated[bool, names], False)
    if name in _WITH_GAPS:
        kinds[_GAPS] = (Annotated[bool, every], False)
    parameters = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for option, (kind, default) in kinds.items()
    ]
    run.__dict__["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), *parameters])
    run.__annotations__ = {**command.__annotations__, **{option: kind for option, (kind, _) in kinds.items()}}
    return run


def _number(given: object, default: N) -> float | N:
    return given if isinstance(given, float) else default
