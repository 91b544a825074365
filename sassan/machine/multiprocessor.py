"""The SM table (`sm.toml`) as records, checked once when it is read."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from math import floor
from typing import cast

from sassan.alphabet import Letter
from sassan.errors import InputError, SelfCheckError

WARP_SIZE = 32
_NUMBERS = ("fp32", "int32", "fp64", "sfu", "ldst", "warps", "blocks", "registers")
_USED_BY = {
    Letter.LOAD: ("ldst",),
    Letter.COMPUTE: ("fp32", "int32"),
    Letter.SPECIAL: ("sfu",),
    Letter.DOUBLE: ("fp64",),
}


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """One SM. Lanes are results per clock; `issue` is instructions per clock; `shared` is kilobytes (per SM, per block)."""

    capability: str
    fp32: int
    int32: int
    fp64: int
    sfu: int
    ldst: int
    schedulers: int
    dispatch: int
    warps: int
    blocks: int
    registers: int
    shared: tuple[int, int]
    unsure: tuple[str, ...]
    source: str

    @property
    def issue(self) -> int:
        """Return how many instructions the SM issues per clock at most."""
        return self.schedulers * self.dispatch

    def capacity(self, letter: Letter) -> Fraction:
        """Return sigma: how many warp instructions of this letter start per clock (timing.md).

        C stands for integer and floating-point work alike, so it gets the narrower of the two paths: a bound may charge too much, never too
        little. A fraction above 1 is floored for the same reason.
        """
        lanes = min(cast("int", getattr(self, unit)) for unit in _USED_BY[letter])
        sigma = Fraction(lanes, WARP_SIZE)
        return Fraction(floor(sigma)) if sigma > 1 else sigma

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what a bound over this SM takes for granted."""
        told = ", ".join(f"{letter.value}={self.capacity(letter)}" for letter in Letter)
        doubt = tuple(f"no source confirms '{unit}' of compute capability {self.capability}" for unit in self.unsure)
        return (f"SM of compute capability {self.capability}: warp instructions per cycle {told}, issue {self.issue}", *doubt)


def load(arch: str) -> Multiprocessor:
    """Return the SM of `sm_61` and the like.

    Raises InputError where the table has no entry.
    """
    digits = "".join(one for one in arch.removeprefix("sm_") if one.isdigit())
    capability = f"{digits[:-1]}.{digits[-1:]}"
    found = _table().get(capability)
    if found is None:
        raise InputError(
            "unknown-sm", f"the SM table has no compute capability {capability} ({arch})", hint=f"known: {', '.join(_table())}"
        )
    return found


@cache
def _table() -> Mapping[str, Multiprocessor]:
    document = tomllib.loads(resources.files("sassan.machine").joinpath("sm.toml").read_text("utf-8"))
    return {name: _entry(name, cast("Mapping[str, object]", value)) for name, value in document["sm"].items()}


def _entry(name: str, value: Mapping[str, object]) -> Multiprocessor:
    numbers = {key: _whole(name, key, value.get(key)) for key in _NUMBERS}
    schedulers, dispatch = _pair(name, "issue", value.get("issue"))
    unsure, source = value.get("unsure"), value.get("source")
    if not isinstance(unsure, list) or not isinstance(source, str):
        raise SelfCheckError("sm-table", f"sm.toml, {name}: 'unsure' and 'source' are needed")
    return Multiprocessor(
        capability=name,
        schedulers=schedulers,
        dispatch=dispatch,
        shared=_pair(name, "shared", value.get("shared")),
        unsure=tuple(str(one) for one in cast("list[object]", unsure)),
        source=source,
        **numbers,
    )


def _whole(name: str, key: str, value: object) -> int:
    if not isinstance(value, int) or value <= 0:
        raise SelfCheckError("sm-table", f"sm.toml, {name}: {key!r} must be a positive whole number")
    return value


def _pair(name: str, key: str, value: object) -> tuple[int, int]:
    if not isinstance(value, list) or len(cast("list[object]", value)) != 2:  # noqa: PLR2004  # a pair is two
        raise SelfCheckError("sm-table", f"sm.toml, {name}: {key!r} must be two numbers")
    first, second = cast("list[object]", value)
    return _whole(name, key, first), _whole(name, key, second)
