"""The letters of a kernel string: the kind of unit that an instruction occupies."""

from enum import StrEnum


class Letter(StrEnum):
    """L load/store, C compute, S special function, D double precision (Berezovskyi et al. 2013, III); T matrix products (tensor cores)."""

    LOAD = "L"
    COMPUTE = "C"
    SPECIAL = "S"
    DOUBLE = "D"
    TENSOR = "T"
