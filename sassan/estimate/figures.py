"""The figures of the hardware that an estimate needs beside those of a bound: what is usual, not what is worst."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sassan.timing.latencies import Latencies
from sassan.timing.rates import Rates, Tables

_USUAL: Mapping[str, int] = MappingProxyType(
    {"constant": 40, "barrier": 16, "blockfence": 16, "sfu": 24, "shuffle": 24, "special": 24, "branch": 8, "convergence": 8}
)
"""Latencies by class, for those of which the tables of the bound assume the worst: on idle hardware. Assumed."""
_L1 = 34
"""From the issue of a load until L1 answers it: Luo et al. 2024 (33 to 41 on Ampere, Ada, Hopper)."""
_L2 = 240
"""The same for L2: 200 to 273 on the same GPUs."""
_TEXTURE = 90


@dataclass(frozen=True, slots=True)
class Usual:
    """Cycles: `l1`, `l2`, `dram` from the issue of a load until that level answers it; `dispatch` until a block follows another one.

    `release`: from the last arrival at a block barrier until the warps go on. `backlog`: of work that the memory pipeline queues.
    """

    rates: Rates
    l1: int
    l2: int
    dram: int
    dispatch: int = 60
    release: int = 16
    backlog: int = 32


def usual(arch: str, tables: Tables) -> Usual:
    """Return the figures of an architecture; what a user says of a latency goes over them.

    Raises InputError where no table knows the architecture.
    """
    given = tables.rates(arch)
    machine = given.machine
    dram = given.latencies.cycles("global") or 0
    over = {**(tables.file.latency if tables.file is not None else {}), **tables.given}
    figures = {**_USUAL, "global": _L1, "store": _L1, "atomic": _L1, "texture": _TEXTURE, **over}
    rates = Rates(machine, Latencies(machine.arch, figures))
    return Usual(rates, min(_L1, dram), min(_L2, dram), dram)
