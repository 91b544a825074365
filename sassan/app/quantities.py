"""Quantities with units as users write them: durations, bandwidths, clocks, shares."""

import re
from collections.abc import Mapping
from fractions import Fraction

from sassan.errors import UsageError

_NUMBER = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,12})?)[ \t]*([A-Za-z%/]{0,6})", re.ASCII)
_DURATIONS: Mapping[str, Fraction] = {"ns": Fraction(1, 1000), "us": Fraction(1), "ms": Fraction(1000), "s": Fraction(10**6)}
"""Units of time, in microseconds."""
_BANDWIDTHS: Mapping[str, Fraction] = {"KB/s": Fraction(1, 10**6), "MB/s": Fraction(1, 1000), "GB/s": Fraction(1), "TB/s": Fraction(1000)}
"""Units of bandwidth, in GB/s of 10^9 bytes."""
_CLOCKS: Mapping[str, Fraction] = {"": Fraction(1), "MHz": Fraction(1), "GHz": Fraction(1000)}
"""Units of clocks, in MHz."""
_FASTEST = 10_000
_SHARES: Mapping[str, Fraction] = {"%": Fraction(1, 100), "": Fraction(1)}


def duration(text: str, option: str) -> Fraction:
    """Return a time such as `5ms`, `800us`, `0.01s` in microseconds; there must be a unit, and more than 0.

    Raises UsageError.
    """
    return _quantity(text, option, _DURATIONS, "a time such as 5ms, 800us or 0.01s")


def bandwidth(text: str, option: str) -> Fraction:
    """Return a bandwidth such as `20 GB/s` in GB/s; there must be a unit, and more than 0.

    Raises UsageError.
    """
    return _quantity(text, option, _BANDWIDTHS, "a bandwidth such as 20 GB/s or 800 MB/s")


def clock(text: str, option: str) -> int:
    """Return a clock such as `1410 MHz`, `1410` or `1.41 GHz` in whole MHz.

    Raises UsageError.
    """
    known = _quantity(text, option, _CLOCKS, "a clock such as 1410 MHz, or base")
    if known.denominator != 1 or known > _FASTEST:
        raise _wrong(text, option, f"whole MHz, {_FASTEST} at most")
    return int(known)


def share(text: str, option: str) -> Fraction:
    """Return a part such as `60%` or `0.6`, more than 0 and 1 at most.

    Raises UsageError.
    """
    known = _quantity(text, option, _SHARES, "a part such as 60% or 0.6")
    if known > 1:
        raise _wrong(text, option, "100% at most")
    return known


def _quantity(text: str, option: str, units: Mapping[str, Fraction], form: str) -> Fraction:
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match[2] not in units or not (value := Fraction(match[1]) * units[match[2]]):
        raise _wrong(text, option, form)
    return value


def _wrong(text: str, option: str, form: str) -> UsageError:
    shown = text if len(text) <= 40 else f"{text[:37]}..."  # noqa: PLR2004 - characters of a message
    return UsageError("usage", f"{option} must be {form}, not '{shown}'")
