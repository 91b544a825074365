"""`analyze`: from an input and what is known of its launch to the bounds of its kernels."""

from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Literal, TypedDict, Unpack, cast, get_args, overload

from sassan.api import checking
from sassan.api.inputs import Origin, chosen, read
from sassan.api.kernels import Kernel, Kernels
from sassan.api.launching import Launch, extents, launch_of, number, parameters
from sassan.app import analysis
from sassan.app.inputs import check_settings
from sassan.app.options import AnalysisOptions, library
from sassan.app.settings import Settings
from sassan.errors import UsageError
from sassan.ir import Function, Program

ModelName = Literal["unit", "table", "control", "measured"]
"""What a block costs: its instructions, the sum of their latencies, what its control codes allow at worst, or what was measured."""
LetterSet = Literal["timing", "2013"]
OrderName = Literal["arch", "taken-first", "either"]
Path = str | PathLike[str]


class Choices(TypedDict, total=False):
    """What a result depends on beside the code; the options of `sassan analyze`, with its defaults."""

    launch: Launch | None
    warps: int | None
    """Whose makespan on one SM is asked for."""
    loop_bound: int
    """Of every loop without a fact."""
    distinct: Mapping[int, int]
    """By the address of an atomic instruction, how many units of L2 work on its operations whenever they wait."""
    facts: Path
    """A file of flow facts."""
    model: ModelName
    machine: Path
    """A file with an SM of the user's own."""
    latency: Mapping[str, int]
    """Worst cycles by class of instruction (`global`), over the table."""
    measurements: Path
    """Cycles per block, for the model `measured`."""
    letters: LetterSet
    order: OrderName
    """Which side of a divergent branch runs first."""
    call_depth: int
    partition: bool
    """Whether the makespan is bounded in the partition model, too."""


_CHECKS: Mapping[str, Callable[[str, object], object]] = {
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


@overload
def analyze(subject: Function, *, file: str = ..., **choices: Unpack[Choices]) -> Kernel: ...
@overload
def analyze(subject: Program | Origin, *, function: str | None = ..., **choices: Unpack[Choices]) -> Kernels: ...
def analyze(
    subject: Function | Program | Origin,
    *,
    function: str | None = None,
    file: str = "",
    **choices: Unpack[Choices],
) -> Kernel | Kernels:
    """Return the bounds of one function, or of every function of a program or an input (of those that match `function`, a name or glob).

    With `warps`, also the makespan of so many on one SM; with the block of `launch`, that of as many as are resident; with its grid, that
    of the grid. A function with gaps has no bound and lists them. Numbers are cycles of the cost model.
    Raises InputError for an input or a table that is refused, UsageError for choices that contradict each other or a launch that is
    impossible, MissingToolError, SelfCheckError.
    """
    known = checked(choices)
    settings = settings_of(known)
    if isinstance(subject, Function):
        check_settings(settings, (subject,), (subject,), partial=True)
        file = checking.text("file", file)
        return Kernel(analysis.analyze(subject, settings, file))
    program = subject if isinstance(subject, Program) else read(subject)
    functions = chosen(program, function)
    check_settings(settings, program.functions, functions)
    return Kernels(program.name, tuple(Kernel(analysis.analyze(function, settings, program.name)) for function in functions))


def checked(choices: Mapping[str, object]) -> Choices:
    """Return the choices that were made; None leaves one out.

    Raises UsageError `usage` for one that there is not, or that is not what it has to be.
    """
    unknown = sorted(set(choices) - set(_CHECKS))
    if unknown:
        raise UsageError("usage", f"unknown choice '{unknown[0]}'", hint=f"one of {', '.join(sorted(_CHECKS))}")
    return cast("Choices", {name: _CHECKS[name](name, value) for name, value in choices.items() if value is not None})


def settings_of(choices: Choices) -> Settings:
    """Return the settings of the choices that were made; raises UsageError for those that contradict each other."""
    launch = choices.get("launch") or Launch()
    options = AnalysisOptions(
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
    return options.settings(library)


def _path(path: Path | None) -> str | None:
    return None if path is None else fspath(path)
