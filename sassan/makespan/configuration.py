"""Instances as a user writes them: `L=1,C=4`, and a TOML file in the terms of Berezovskyi et al. 2011 (sections 2, 3 and 6, Figure 4).

kernel = "LLC"                       # or ["LLC", "LCL"]: assigned to the warps cyclically
warps = 4

[multiprocessor]
units = { L = 16, C = 32 }           # lanes; the capacity is units / warp_size (Equations 1 and 2)
warp_size = 32
# or: capacity = { L = "1/2", C = 1 }, or: sm = "6.1"
issue = 4                            # instructions per slot in all; unlimited if omitted
latency = { D = 8 }                  # slots; 1 if omitted

[search]
engine = "all"
time_limit = 10                      # seconds
seed = 0
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from sassan.alphabet import Letter
from sassan.errors import InputError, UsageError
from sassan.machine import MachineFile
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.strings.kernel_string import KernelString, parse

MOST_WARPS = 1_000_000
"""An upper limit on the warps of an instance."""
_LARGEST = 1_000_000
_NUMBER = re.compile(r"[0-9]{1,9}(/[0-9]{1,9}|\.[0-9]{1,9})?", re.ASCII)
_HINT = "samples/makespan/ has examples"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The values of a file or of the options; None, or a missing letter, where they give no value.

    `machine` is the SM of a user's file; `partition` asks for one partition of the SM instead of all of it.
    """

    strings: tuple[KernelString, ...] = ()
    warps: int | None = None
    sm: str | None = None
    capacity: Mapping[Letter, Fraction] = field(default_factory=dict[Letter, Fraction])
    issue: int | None = None
    latency: Mapping[Letter, int] = field(default_factory=dict[Letter, int])
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
    return {letter: _whole(f"--latency {letter}", value, "bad-latency", UsageError) for letter, value in _pairs("--latency", text)}


def _pairs(option: str, text: str) -> list[tuple[Letter, str]]:
    pairs: dict[Letter, str] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        letter = _letter(name.strip().upper())
        if not sign or letter is None:
            raise UsageError(
                "bad-units",
                f"{option} {text!r}: {part.strip()!r} is not of the form UNIT=NUMBER",
                hint=f"for example {option} L=1,C=4; the units are L, C, S, D",
            )
        if letter in pairs:
            raise UsageError("bad-units", f"{option} {text!r} names {letter} twice", hint="name each unit once")
        pairs[letter] = value.strip()
    return list(pairs.items())


def _letter(name: str) -> Letter | None:
    return Letter(name) if name in set(Letter) else None


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


def _whole(where: str, value: object, code: str, kind: Kind, most: int = _LARGEST) -> int:
    text = str(value)
    if isinstance(value, bool | float) or not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not 1 <= int(text) <= most:
        raise kind(code, f"{where}: {text!r} is not a whole number from 1 to {most}")
    return int(text)


def read(name: str, text: str) -> Configuration:
    """Return the instance of a TOML text that the user called `name`.

    Raises InputError that names the file and the key.
    """
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError("config-syntax", f"{name}: {error}", hint=_HINT) from error
    _check_keys(name, "the file", document, {"kernel", "warps", "multiprocessor", "search"})
    multiprocessor = _table(name, "multiprocessor", document.get("multiprocessor", {}))
    search = _table(name, "search", document.get("search", {}))
    _check_keys(name, "[multiprocessor]", multiprocessor, {"sm", "units", "warp_size", "capacity", "issue", "latency"})
    _check_keys(name, "[search]", search, {"engine", "time_limit", "seed"})
    return Configuration(
        strings=_strings(name, document.get("kernel")),
        warps=_maybe_whole(name, "warps", document.get("warps"), MOST_WARPS),
        sm=_maybe_text(name, "multiprocessor.sm", multiprocessor.get("sm")),
        capacity=_capacities(name, multiprocessor),
        issue=_maybe_whole(name, "multiprocessor.issue", multiprocessor.get("issue")),
        latency={
            letter: _whole(f"{name}: multiprocessor.latency.{letter}", value, "config-value", InputError)
            for letter, value in _letters(name, "multiprocessor.latency", multiprocessor.get("latency", {}))
        },
        engine=_maybe_text(name, "search.engine", search.get("engine")),
        time_limit=_seconds(name, search.get("time_limit")),
        seed=_seed(name, search.get("seed")),
    )


def _strings(name: str, value: object) -> tuple[KernelString, ...]:
    rows = [value] if isinstance(value, str) else value
    if not isinstance(rows, list) or not rows or not all(isinstance(row, str) for row in cast("list[object]", rows)):
        raise _refused(name, 'needs kernel = "LLC", a string or a list of strings')
    return tuple(parse(row, f"{name}: kernel") for row in cast("list[str]", rows))


def _capacities(name: str, table: Mapping[str, object]) -> dict[Letter, Fraction]:
    if "units" in table and "capacity" in table:
        raise _refused(name, "has both multiprocessor.units and multiprocessor.capacity; keep one of them")
    if "units" in table:
        size = _whole(f"{name}: multiprocessor.warp_size", table.get("warp_size", WARP_SIZE), "config-value", InputError)
        units = _letters(name, "multiprocessor.units", table["units"])
        return {
            letter: Fraction(_whole(f"{name}: multiprocessor.units.{letter}", value, "config-value", InputError), size)
            for letter, value in units
        }
    if "warp_size" in table:
        raise _refused(name, "has multiprocessor.warp_size without multiprocessor.units")
    values = _letters(name, "multiprocessor.capacity", table.get("capacity", {}))
    return {letter: _capacity(f"{name}: multiprocessor.capacity.{letter}", value, InputError) for letter, value in values}


def _letters(name: str, key: str, value: object) -> list[tuple[Letter, object]]:
    table = _table(name, key, value)
    _check_keys(name, key, table, set(Letter))
    return [(letter, table[letter]) for letter in Letter if letter in table]


def _maybe_whole(name: str, key: str, value: object, most: int = _LARGEST) -> int | None:
    return None if value is None else _whole(f"{name}: {key}", value, "config-value", InputError, most)


def _maybe_text(name: str, key: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _refused(name, f"has {key} = {value!r}: it must be a string")
    return value


def _seconds(name: str, value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= _LARGEST:
        raise _refused(name, f"has search.time_limit = {value!r}: it must be a number of seconds above 0")
    return float(value)


def _seed(name: str, value: object) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise _refused(name, f"has search.seed = {value!r}: it must be a whole number, 0 or more")
    return value


def _table(name: str, where: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _refused(name, f"has a {where} that is not a table")
    return cast("Mapping[str, object]", value)


def _check_keys(name: str, where: str, table: Mapping[str, object], allowed: set[str] | set[Letter]) -> None:
    unknown = sorted(set(table) - allowed)
    if unknown:
        raise _refused(name, f"has the unknown key {unknown[0]!r} in {where}; known: {', '.join(sorted(allowed))}")


def _refused(name: str, reason: str) -> InputError:
    return InputError("config-value", f"{name} {reason}", hint=_HINT)
