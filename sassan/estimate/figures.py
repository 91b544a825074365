"""The figures of the hardware that an estimate needs beside those of a bound: what is usual, not what is worst."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from sassan.checked import Fields, Format
from sassan.timing.latencies import Latencies
from sassan.timing.rates import Rates, Tables

FILE = Path(__file__).with_name("figures.toml")
_FORMAT = Format("bad-table", "the head of sassan/estimate/figures.toml describes it")
_USUAL: Mapping[str, int] = MappingProxyType(
    {"constant": 40, "barrier": 16, "blockfence": 16, "sfu": 24, "shuffle": 24, "special": 24, "branch": 8, "convergence": 8}
)
"""Latencies by class, for those of which the tables of the bound assume the worst: on idle hardware. Assumed."""
_TEXTURE = 90


@dataclass(frozen=True, slots=True)
class Figures:
    """What `figures.toml` says, in cycles where nothing else is said.

    `l1` and `l2`: from the issue of a load until that level answers it; `dram`: more than L2. `dispatch`: until a block follows another
    one. `release`: from the last arrival at a block barrier until the warps go on. `backlog`: of work that the memory pipeline queues.
    `row`: bytes that DRAM moves in the time in which it opens a row, and at least a piece of memory that lies alone takes as long.
    `fetch`: until a line of code that no cache of the SM holds is there. `launch`: the part of the launch overhead of a product that
    is usual. `cache`: KiB of L1 that shared memory never takes.
    `check` and `shuffle`: for which FCHK, the test of a fast division, and SHFL keep their unit. `copy`: from the issue of a copy by the
    copy engine until L1 would have answered a load. `trial`: of an arrival at a barrier in shared memory, or a look at it. `product`: from
    the last pass of an asynchronous matrix product until it is known to be done. `phase`: until a warp sees that a phase is over. `engine`:
    bytes a cycle that the copy engine of an SM moves. `box_row`:
    for which it asks for one row of a box. `bulk`: how many times as fast as loads of all SMs L2 answers copies.
    `together`: the part of the requests for what another SM requests at about the same time that it answers with those of the other.
    """

    l1: float
    l2: float
    dram: float
    dispatch: float
    release: float
    backlog: float
    row: float
    fetch: float
    launch: float
    cache: float
    check: float
    shuffle: float
    copy: float
    trial: float
    product: float
    phase: float
    engine: float
    box_row: float
    bulk: float
    together: float


@dataclass(frozen=True, slots=True)
class Usual:
    """The rates of an architecture with usual latencies, and the figures of all of them.

    `fills`: the part of the sectors stored in part that its L2 fetches. `l2_rate`: bytes a cycle and SM of an L2 that was not measured,
    None where the figure of a bound is the usual one. `link`: GB/s between it and memory of the host, 0 where it has none of its own.
    `given` are the latencies that the user says.
    """

    rates: Rates
    figures: Figures
    fills: float = 0.0
    l2_rate: float | None = None
    link: float = 0.0
    given: frozenset[str] = frozenset()


@cache
def calibrated() -> Figures:
    """Return the figures of the file.

    Raises InputError `bad-table`.
    """
    table = _file().table("figures")
    names = [each.name for each in fields(Figures)]
    table.only(*names)
    return Figures(**{name: table.table(name).number("value", least=0, most=1e6) for name in names})


@cache
def _file() -> Fields:
    return _FORMAT.toml(FILE.name, FILE.read_text("utf-8"))


@cache
def fills(arch: str) -> float:
    """Return which part of the sectors that are stored in part an architecture fetches, as far as that was measured.

    Raises InputError `bad-table`.
    """
    table = _file().table("fills")
    return table.table(arch).number("value", least=0, most=1) if arch in table else 0.0


@cache
def l2_rate(arch: str) -> float | None:
    """Return the bytes a cycle and SM of an L2 that was not measured, None where no figure is known.

    Raises InputError `bad-table`.
    """
    table = _file().table("l2_rates")
    return table.table(arch).number("value", least=1, most=1e3) if arch in table else None


@cache
def link(arch: str) -> float:
    """Return how many GB/s an architecture gets from memory of the host, and as many into it; 0 where it shares that memory.

    Raises InputError `bad-table`.
    """
    table = _file().table("links")
    return table.table(arch).number("value", least=0, most=1e6) if arch in table else 0.0


def usual(arch: str, tables: Tables, figures: Figures | None = None) -> Usual:
    """Return the figures of an architecture; what a user says of a latency goes over them, the worst that was measured of a product not.

    Where others have their share of DRAM, it answers as much later.

    Raises InputError where no table knows the architecture.
    """
    known = calibrated() if figures is None else figures
    known = replace(known, dram=known.dram * float(tables.waiting))
    first = round(known.l1)
    given = {**(tables.file.latency if tables.file is not None else {}), **tables.given}
    latencies = {**_USUAL, "global": first, "store": first, "atomic": first, "texture": _TEXTURE, **given}
    machine = tables.rates(arch).machine
    part, rate, to_host = fills(machine.arch), l2_rate(machine.arch), link(machine.arch)
    return Usual(Rates(machine, Latencies(machine.arch, latencies)), known, part, rate, to_host, frozenset(given))
