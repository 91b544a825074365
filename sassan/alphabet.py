"""The letters of a kernel string: the kind of unit that an instruction occupies, and block barriers."""

from enum import StrEnum


class Letter(StrEnum):
    """L load/store, C compute, S special function, D double precision (Berezovskyi et al. 2013, III); T matrix products (tensor cores).

    B is a block barrier: no instruction, and on no unit.
    """

    LOAD = "L"
    COMPUTE = "C"
    SPECIAL = "S"
    DOUBLE = "D"
    TENSOR = "T"
    BARRIER = "B"


UNITS: tuple[Letter, ...] = tuple(letter for letter in Letter if letter is not Letter.BARRIER)
"""The letters of instructions: those that have a unit."""
