"""Instances of `sassan makespan`: from strings, a file of settings, and options to what the engines take."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from sassan import machine
from sassan.app.reading import architecture, read_text
from sassan.errors import InputError, UsageError
from sassan.machine import Multiprocessor
from sassan.makespan import configuration
from sassan.makespan.configuration import MakespanConfiguration
from sassan.makespan.problem import Problem, Processor, problem
from sassan.makespan.processors import MODEL, processor
from sassan.strings.kernel_string import KernelString, instructions

_SINGLE = ("strings", "warps", "sm", "issue", "engine", "time_limit", "seed", "machine", "partition", "block_warps")
_ALPHABET = r"[LCSDTBlcsdtb0-9()^\s]*"


@dataclass(frozen=True, slots=True)
class MakespanInstance:
    """One question: `strings` as given, taken in turn by the warps; `problem` with fractions and latencies removed.

    `name` is the function, or the string itself. `costs` are those of the paths alone, in cycles; empty for strings.
    """

    name: str
    strings: tuple[KernelString, ...]
    processor: Processor
    problem: Problem
    assumptions: tuple[str, ...]
    costs: tuple[int, ...] = ()

    @property
    def warps(self) -> int:
        """Return the number of warps."""
        return self.problem.warps


def is_string(text: str) -> bool:
    """Tell a STRING from a FILE.

    What holds a dot or a slash, or is `-`, is a file. What holds only letters of the alphabet, digits, parentheses, `^` and blanks is a
    string, also where a file is called so (`./LCL` names that). Anything else is a file when there is one, else a string, whose error says
    what is wrong with it.
    """
    if text == "-" or "." in text or "/" in text or "\\" in text:
        return False
    if re.fullmatch(_ALPHABET, text):
        return True
    try:
        return not Path(text).exists()
    except (OSError, ValueError):
        return False


def strings_of(texts: list[str]) -> tuple[KernelString, ...]:
    """Return the kernel strings of the command line.

    Raises InputError that marks the place, UsageError when strings and files are mixed.
    """
    if not all(is_string(text) for text in texts):
        raise UsageError("usage", "strings and files exclude each other", hint="pass the file alone")
    return tuple(_parse(text) for text in texts)


def _parse(text: str) -> KernelString:

    try:
        return instructions(text)
    except InputError as error:
        if not re.fullmatch(_ALPHABET, text):
            error.hint = f"for example L5C9(L2C9)^10; and there is no file '{text}'"
        raise


def configured(config: str | None, given: MakespanConfiguration) -> MakespanConfiguration:
    """Return what the file of settings says, with everything that the options say in its place.

    Raises InputError for a file that is refused.
    """
    if config is None:
        return given
    base = configuration.read(config, read_text(config, "config-syntax", "samples/makespan/ has examples"))
    values = {name: value for name in _SINGLE if (value := getattr(given, name)) not in (None, (), False)}
    capacity = dict(given.capacity) if given.sm is not None else {**base.capacity, **given.capacity}
    return replace(
        base, **values, capacity=capacity, latency={**base.latency, **given.latency}, interval={**base.interval, **given.interval}
    )


def instance(
    name: str, strings: tuple[KernelString, ...], settings: MakespanConfiguration, arch: str | None, *, options: bool = True
) -> MakespanInstance:
    """The instance of the settings and these strings; `arch` is the architecture of a listing.

    `options`: assumptions name the options of the command line that they come from.

    Raises UsageError and InputError for numbers that mean nothing.
    """
    warps = settings.warps if settings.warps is not None else len(strings) if len(strings) > 1 else None
    if warps is None:
        raise UsageError("no-warps", "the number of warps is missing", hint="pass -W 16")
    runs, assumptions = processor(strings, settings, _machine(settings, arch), options=options)
    if settings.partition:
        warps, assumptions = _share(strings, settings, arch, warps, assumptions)
    row = tuple(strings[warp % len(strings)] for warp in range(warps))
    return MakespanInstance(name, strings, runs, problem(row, runs, settings.block_warps), (MODEL, *assumptions))


def _machine(settings: MakespanConfiguration, arch: str | None) -> Multiprocessor | None:
    """Return the SM that the settings name, for the code of a listing where there is one; None where they name none."""
    wanted = architecture(settings.sm) or arch
    if wanted is not None:
        return machine.machine_of(wanted, settings.machine)
    return settings.machine.sm if settings.machine is not None else None


def _share(
    strings: tuple[KernelString, ...], settings: MakespanConfiguration, arch: str | None, warps: int, said: tuple[str, ...]
) -> tuple[int, tuple[str, ...]]:
    """Return how many of the warps one partition has, and what that takes for granted.

    Raises UsageError without an SM, or where it is open which strings one partition has.
    """
    sm = _machine(settings, arch)
    if sm is None:
        raise UsageError("usage", "--partition needs an SM", hint="pass --sm 6.1 or --machine my.toml")
    if len(strings) > 1:
        raise UsageError("usage", f"--partition takes one string for all warps, not {len(strings)}", hint="pass each string alone")
    if any(string.barriers for string in strings):
        message = "--partition takes a string without B: the warps of a block are in different partitions"
        raise UsageError("usage", message, hint="omit --partition")

    shared = ", ".join(letter.value for letter in sm.letters if sm.is_shared(letter))
    even = (f"units of the whole SM ({shared}) serve each partition for an even part of the time",) if shared else ()
    return -(-warps // sm.schedulers), (*said, *even)
