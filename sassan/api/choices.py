"""What a result depends on beside the code, as keywords of a caller, and the settings that they ask for."""

from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Literal, TypedDict, cast, get_args

from sassan.api import checking
from sassan.api.launching import Launch, extents, launch_of, number, parameters
from sassan.app.options import AnalysisOptions, library
from sassan.app.settings import Settings
from sassan.errors import UsageError

ModelName = Literal["unit", "table", "control", "measured"]
"""What a block costs: its instructions, the sum of their latencies, what its control codes allow at worst, or what was measured."""
LetterSet = Literal["timing", "2013"]
OrderName = Literal["arch", "taken-first", "either"]
Path = str | PathLike[str]


class Choices(TypedDict, total=False):
    """What a result depends on beside the code; the options of `sassan analyze`, with its defaults."""

    launch: Launch | None
    """Block, grid, arguments and GPU; what it does not say may be anything."""
    warps: int | None
    """Whose makespan on one SM is asked for."""
    loop_bound: int
    """Of every loop without a fact."""
    distinct: Mapping[int, int]
    """By the address of an atomic instruction, how many units of L2 work on its operations whenever they wait."""
    facts: Path
    """A file of flow facts."""
    model: ModelName
    """What a block costs: `unit` counts instructions, the default; `control`, the default with a GPU, and `table` are in cycles."""
    machine: Path
    """A file with an SM of the user's own."""
    latency: Mapping[str, int]
    """Worst cycles by class of instruction (`global`), over the table."""
    measurements: Path
    """Cycles per block, for the model `measured`."""
    letters: LetterSet
    """How instructions are mapped to letters: as by their units, or as in Figure 11 of Berezovskyi et al. 2013."""
    order: OrderName
    """Which side of a divergent branch runs first."""
    call_depth: int
    """How many call sites distinguish the blocks of a function; all of them, if it is not given."""
    partition: bool
    """Whether the makespan is bounded in the partition model, too."""


CHECKS: Mapping[str, Callable[[str, object], object]] = {
    "launch": launch_of,
    "warps": checking.whole,
    "loop_bound": checking.whole,
    "distinct": checking.mapping,
    "facts": checking.path,
    "model": checking.text,
    "machine": checking.path,
    "latency": checking.mapping,
    "measurements": checking.path,
    "letters": checking.one_of(*get_args(LetterSet)),
    "order": checking.text,
    "call_depth": checking.whole,
    "partition": checking.flag,
}
"""What tells each choice from what it is not; names of models and orders are known where they are used."""


def checked(choices: Mapping[str, object]) -> Choices:
    """Return the choices that were made; None leaves one out.

    Raises UsageError `usage` for one that there is not, or that is not what it has to be.
    """
    return cast("Choices", checked_by(CHECKS, choices))


def checked_by(checks: Mapping[str, Callable[[str, object], object]], choices: Mapping[str, object]) -> Mapping[str, object]:
    """Return the choices that were made, each held to the check of its name; raises UsageError `usage`."""
    unknown = sorted(set(choices) - set(checks))
    if unknown:
        raise UsageError("usage", f"unknown choice '{unknown[0]}'", hint=f"one of {', '.join(sorted(checks))}")
    return {name: checks[name](name, value) for name, value in choices.items() if value is not None}


def options_of(choices: Choices) -> AnalysisOptions:
    """Return choices as options of an analysis; raises UsageError `usage`."""
    launch = choices.get("launch") or Launch()
    return AnalysisOptions(
        facts=_path(choices.get("facts")),
        loop_bound=choices.get("loop_bound"),
        distinct=tuple(f"0x{address:x}={units}" for address, units in choices.get("distinct", {}).items()),
        block=extents(launch.block, "block"),
        grid=extents(launch.grid, "grid"),
        parameters=parameters(launch),
        registers=number("registers", launch.registers),
        shared=number("shared", launch.shared),
        sms=number("sms", launch.sms),
        gpu=None if launch.gpu is None else checking.text("gpu", launch.gpu),
        warps=choices.get("warps"),
        partition=choices.get("partition", False),
        model=choices.get("model"),
        machine=_path(choices.get("machine")),
        latency=tuple(f"{name}={cycles}" for name, cycles in choices.get("latency", {}).items()),
        measurements=_path(choices.get("measurements")),
        letters=choices.get("letters", "timing"),
        order=choices.get("order", "arch"),
        call_depth=choices.get("call_depth"),
    )


def settings_of(choices: Choices) -> Settings:
    """Return the settings that choices ask for.

    Raises UsageError for choices that contradict each other, InputError for a file that is refused.
    """
    return options_of(choices).settings(library)


def _path(path: Path | None) -> str | None:
    return None if path is None else fspath(path)
