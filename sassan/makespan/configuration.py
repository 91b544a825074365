"""Instances as a user writes them: `L=1,C=4`, and a TOML file in the terms of Berezovskyi et al. 2011 (sections 2, 3 and 6, Figure 4).

kernel = "LLC"                       # or ["LLC", "LCL"]: assigned to the warps cyclically
warps = 4

[multiprocessor]
units = { L = 16, C = 32 }           # lanes; the capacity is units / warp_size (Equations 1 and 2)
warp_size = 32
# or: capacity = { L = "1/2", C = 1 }, or: sm = "6.1"
issue = 4                            # instructions per slot in all; unlimited if omitted
latency = { D = 8, T = 18 }          # slots that an instruction holds its warp; 1 if omitted
interval = { T = 2 }                 # slots that it holds its unit; without one, an instruction of 8 slots is 8 letters in a row
block_warps = 8                      # warps in a row that wait for each other at B; all of them if omitted

[search]
engine = "all"
time_limit = 10                      # seconds
seed = 0
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sassan.alphabet import UNITS, Letter
from sassan.checked import Fields, Format
from sassan.errors import InputError, UsageError
from sassan.machine import MachineFile
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.strings.kernel_string import KernelString, parse

MOST_WARPS = 1_000_000
"""An upper limit on the warps of an instance."""
_LARGEST = 1_000_000
_NUMBER = re.compile(r"[0-9]{1,9}(/[0-9]{1,9}|\.[0-9]{1,9})?", re.ASCII)
_SHORTEST = 1e-9
_FORMAT = Format("config-value", "samples/makespan/ has examples", syntax="config-syntax")


@dataclass(frozen=True, slots=True)
class MakespanConfiguration:
    """The values of a file or of the options; None, or a missing letter, where they give no value.

    `machine` is the SM of a user's file; `partition` asks for one partition of the SM instead of all of it.
    """

    strings: tuple[KernelString, ...] = ()
    warps: int | None = None
    sm: str | None = None
    capacity: Mapping[Letter, Fraction] = field(default_factory=dict[Letter, Fraction])
    issue: int | None = None
    latency: Mapping[Letter, int] = field(default_factory=dict[Letter, int])
    interval: Mapping[Letter, int] = field(default_factory=dict[Letter, int])
    block_warps: int | None = None
    engine: str | None = None
    time_limit: float | None = None
    seed: int | None = None
    machine: MachineFile | None = None
    partition: bool = False


def capacities(text: str) -> dict[Letter, Fraction]:
    """Return the capacities of `L=1,C=4,S=1/2`.

    Raises UsageError `bad-capacity`.
    """
    return {letter: _capacity(f"--cap {letter}", value, UsageError) for letter, value in _pairs("--cap", text)}


def latencies(text: str) -> dict[Letter, int]:
    """Return the latencies of `D=8,S=4`, in slots.

    Raises UsageError `bad-latency`.
    """
    return {letter: _slots("latency", letter, value) for letter, value in _pairs("--latency", text)}


def intervals(text: str) -> dict[Letter, int]:
    """Return the intervals of `T=2,D=4`, in slots.

    Raises UsageError `bad-latency`.
    """
    return {letter: _slots("interval", letter, value) for letter, value in _pairs("--interval", text)}


def _pairs(option: str, text: str) -> list[tuple[Letter, str]]:
    pairs: dict[Letter, str] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        letter = _letter(name.strip().upper())
        if not sign or letter is None:
            raise UsageError(
                "bad-units",
                f"{option} {text!r}: {part.strip()!r} is not of the form UNIT=NUMBER",
                hint=f"for example {option} L=1,C=4; the units are {', '.join(UNITS)}",
            )
        if letter in pairs:
            raise UsageError("bad-units", f"{option} {text!r} names {letter} twice", hint="name each unit once")
        pairs[letter] = value.strip()
    return list(pairs.items())


def _letter(name: str) -> Letter | None:
    return Letter(name) if name in UNITS else None


Kind = type[UsageError] | type[InputError]


def _capacity(where: str, value: object, kind: Kind) -> Fraction:
    text = str(value)
    valid = isinstance(value, int | float | str) and not isinstance(value, bool) and _NUMBER.fullmatch(text)
    if not valid or ("/" in text and not text.partition("/")[2].strip("0")):
        raise kind(
            "bad-capacity",
            f"{where}: {text!r} is not a number of instructions per slot",
            hint="write a whole number, a fraction such as 1/2, or a decimal such as 0.5",
        )
    capacity = Fraction(text)
    if not 0 < capacity <= _LARGEST or capacity.denominator > _LARGEST:
        raise kind(
            "bad-capacity",
            f"{where}: a capacity of {text} instructions per slot is out of range",
            hint=f"it must be above 0 and at most {_LARGEST}",
        )
    return capacity


def _slots(option: str, letter: Letter, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not 1 <= int(text) <= _LARGEST:
        raise UsageError("bad-latency", f"--{option} {letter}: {text!r} is not a whole number of slots from 1 to {_LARGEST}")
    return int(text)


def read(name: str, text: str) -> MakespanConfiguration:
    """Return the instance of a TOML text that the user called `name`.

    Raises InputError that names the file and the key.
    """
    file = _FORMAT.toml(name, text)
    file.only("kernel", "warps", "multiprocessor", "search")
    multiprocessor, search = file.table("multiprocessor"), file.table("search")
    multiprocessor.only("sm", "units", "warp_size", "capacity", "issue", "latency", "interval", "block_warps")
    search.only("engine", "time_limit", "seed")
    latency, interval = multiprocessor.table("latency"), multiprocessor.table("interval")
    return MakespanConfiguration(
        strings=_strings(file),
        warps=file.whole("warps", most=MOST_WARPS) if "warps" in file else None,
        sm=multiprocessor.text("sm") if "sm" in multiprocessor else None,
        capacity=_capacities(multiprocessor),
        issue=multiprocessor.whole("issue", most=_LARGEST) if "issue" in multiprocessor else None,
        latency={letter: latency.whole(letter, most=_LARGEST) for letter in _letters(latency)},
        interval={letter: interval.whole(letter, most=_LARGEST) for letter in _letters(interval)},
        block_warps=multiprocessor.whole("block_warps", most=MOST_WARPS) if "block_warps" in multiprocessor else None,
        engine=search.text("engine") if "engine" in search else None,
        time_limit=search.number("time_limit", least=_SHORTEST, most=_LARGEST) if "time_limit" in search else None,
        seed=search.whole("seed", least=0) if "seed" in search else None,
    )


def _strings(file: Fields) -> tuple[KernelString, ...]:
    texts = (file.text("kernel"),) if isinstance(file.values.get("kernel"), str) else file.texts("kernel")
    if not texts:
        raise file.fail("kernel", 'must be a string such as "LLC" or an array of strings')
    return tuple(parse(text, file.path("kernel")) for text in texts)


def _capacities(table: Fields) -> dict[Letter, Fraction]:
    if "units" in table:
        if "capacity" in table:
            raise table.fail("capacity", "contradicts multiprocessor.units: keep one of them")
        size, units = table.whole("warp_size", WARP_SIZE, most=_LARGEST), table.table("units")
        return {letter: Fraction(units.whole(letter, most=_LARGEST), size) for letter in _letters(units)}
    if "warp_size" in table:
        raise table.fail("warp_size", "needs multiprocessor.units")
    capacity = table.table("capacity")
    return {letter: _capacity(capacity.path(letter), capacity.values[letter], InputError) for letter in _letters(capacity)}


def _letters(table: Fields) -> list[Letter]:
    """Return the letters that are keys of a table."""
    table.only(*UNITS)
    return [letter for letter in UNITS if letter in table]
