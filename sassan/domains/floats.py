"""Single precision by its words: numbers from +0 on, whose words are ordered as the numbers are."""

import math
import struct
from collections.abc import Callable, Mapping
from fractions import Fraction

NORMAL, INFINITY = 0x00800000, 0x7F800000
"""Words of the least number that no flush makes 0, and of infinity."""
GREATEST_INVERTED = 0x7E800000
"""2^126: the reciprocal of a greater number may be flushed."""
_DIGITS = 24
_ROUND: Mapping[str, Callable[[float], int]] = {"TRUNC": math.floor, "FLOOR": math.floor, "CEIL": math.ceil, "ROUND": round}


def word_of(number: float) -> int:
    """Return the word of the nearest number."""
    try:
        return int(struct.unpack("<I", struct.pack("<f", number))[0])
    except OverflowError:
        return INFINITY


def number_of(word: int) -> float:
    """Return the number of a word."""
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def rounded(number: int, rounding: str) -> int:
    """Return the word of an integer from 0 on, rounded RN or RP (up)."""
    places = max(0, number.bit_length() - _DIGITS)
    # Every number of 24 digits is exact, and so is the next one.
    return word_of(-(-number >> places) << places) if rounding == "RP" else word_of(number)


def whole(word: int, rounding: str, most: int) -> int:
    """Return the integer of a word, TRUNC, FLOOR, CEIL or ROUND, at most `most`."""
    return most if word == INFINITY else min(_ROUND[rounding](number_of(word)), most)


def approximated(word: int) -> tuple[int, int]:
    """Return the ends of what the special-function unit may return: at most one ulp from the exact reciprocal (PTX ISA, `rcp.approx`).

    The word is one from NORMAL to GREATEST_INVERTED.
    """
    number = Fraction(number_of(word))
    nearest = word_of(1 / number_of(word))
    product = Fraction(number_of(nearest)) * number
    return nearest - (product >= 1), nearest + (product <= 1)
