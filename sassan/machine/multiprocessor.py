"""The SM of an architecture as a record, checked once when it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor
from types import MappingProxyType
from typing import Any

from sassan.alphabet import UNITS, Letter
from sassan.arch import FactRow, architecture, described, named, names, rows
from sassan.assumptions import Assumption, AssumptionStatus
from sassan.checked import Fields
from sassan.errors import InputError
from sassan.machine.pipes import LANES, PARTITION, SM, TENSOR, TENSOR_SINGLE, Pipe, pipes_of, with_lanes

WARP_SIZE = 32
NUMBERS = (*LANES, "warps", "blocks", "registers")
"""The keys of an SM that hold one number each; those of OPTIONAL may be omitted: there is no such unit."""
OPTIONAL = ("fp16", TENSOR, TENSOR_SINGLE)
PAIRS = ("issue", "shared")
_USED_BY: Mapping[Letter, tuple[str, ...]] = MappingProxyType(
    {
        Letter.LOAD: ("ldst",),
        Letter.COMPUTE: ("fp32", "int32"),
        Letter.SPECIAL: ("sfu",),
        Letter.DOUBLE: ("fp64",),
    }
)
_SHARED_BY_ALL = (Letter.LOAD,)
_DIVIDED = ("fp32", "int32", "sfu")
"""Lanes that belong to the partitions of an SM on every architecture."""
_MOST_DISPATCH = 2


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """One SM. Lanes are results per clock; `issue` is instructions per clock; `shared` is kilobytes (per SM, per block).

    `fp16`, `tex`, `conv64` (conversions from and to 64 bits), `tensor` and `tensor_single` (multiply-adds of matrices) are 0 where there
    are none. Where products of the SM differ, the lanes are those of the slowest, but for the `slower` products, which have fewer.
    `pipes` is the unit map of this SM.
    `file` names the machine file of a user that changed the entry.
    """

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
    fp16: int = 0
    tex: int = 0
    conv64: int = 0
    tensor: int = 0
    tensor_single: int = 0
    partitions: bool = True
    """False where the schedulers share all lanes."""
    pipes: tuple[Pipe, ...] = ()
    file: str = ""
    slower: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """Return the compute capability as one number: 61, 120."""
        return int(self.capability.replace(".", ""))

    @property
    def arch(self) -> str:
        """Return the name of the architecture: sm_61."""
        return named(self.capability)[0]

    @property
    def issue(self) -> int:
        """Return how many instructions the SM issues per clock at most."""
        return self.schedulers * self.dispatch

    @property
    def lanes(self) -> Mapping[str, int]:
        """Return the lanes by their key in the table."""
        return {key: getattr(self, key) for key in LANES}

    def capacity(self, letter: Letter) -> Fraction:
        """Return sigma: how many warp instructions of this letter start per clock (docs/concepts/time.md).

        C stands for integer and floating-point work alike, so it gets the narrower of the two paths: a bound may charge too much, never too
        little. T stands for the standard product of the unit map, 0 where there is none. A fraction above 1 is floored for the same reason.
        """
        return _sigma(self._starts(letter))

    def _starts(self, letter: Letter) -> Fraction:
        """How many warp instructions of this letter the whole SM starts per clock."""
        if letter is not Letter.TENSOR:
            return Fraction(min(self.lanes[unit] for unit in _USED_BY[letter]), WARP_SIZE)
        products = (pipe.interval(pipe.standard, self.lanes, self.schedulers) for pipe in self.pipes if pipe.standard)
        return next((Fraction(self.schedulers, cycles) for cycles in products if cycles), Fraction(0))

    @property
    def letters(self) -> tuple[Letter, ...]:
        """Return the letters that this SM has a unit for."""
        return tuple(letter for letter in UNITS if self._starts(letter))

    def partition_capacity(self, letter: Letter) -> Fraction:
        """Return sigma of one partition, floored as above; of a unit that all warps share, sigma of the SM.

        Raises InputError before Maxwell, whose schedulers share the lanes.
        """
        if not self.partitions:
            message = f"an SM of compute capability {self.capability} has no partitions: its schedulers share the units"
            raise InputError("no-partitions", message, hint="since 5.0 units belong to a scheduler; omit the partition model")
        return self.capacity(letter) if self.is_shared(letter) else _sigma(self._starts(letter) / self.schedulers)

    def is_shared(self, letter: Letter) -> bool:
        """Say whether all warps of the SM share the unit of a letter, whatever their scheduler."""
        if letter in _SHARED_BY_ALL:
            return True
        return letter is Letter.DOUBLE and any(pipe.unit == "fp64" and pipe.scope == SM for pipe in self.pipes)

    def pipe(self, unit: str, opcode: str) -> Pipe | None:
        """Return the row of the unit map for an opcode (with its modifiers) that runs on a unit, None where there is none."""
        return next((pipe for pipe in self.pipes if pipe.fits(unit, opcode)), None)

    def interval(self, unit: str, opcode: str) -> int | None:
        """Return how many cycles a warp that issued `opcode` waits before it may issue to that unit again; None: there is no such unit."""
        pipe = self.pipe(unit, opcode)
        return None if pipe is None else pipe.interval(opcode, self.lanes, self.schedulers)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what a bound over this SM takes for granted."""
        rates = ", ".join(f"{letter.value}={self.capacity(letter)}" for letter in self.letters)
        text = f"SM of compute capability {self.capability}{self._changed_by}: warp instructions per cycle {rates}, issue {self.issue}"
        return (
            self._figures(text),
            *self.inherited("sm"),
            *self._doubts,
        )

    @property
    def partition_assumptions(self) -> tuple[str, ...]:
        """Return what a bound over one partition takes for granted."""
        rates = ", ".join(
            f"{letter.value}={self.partition_capacity(letter)}" + " of the SM" * self.is_shared(letter) for letter in self.letters
        )
        head = f"partition model: one of {self.schedulers} partitions of an SM of compute capability {self.capability}{self._changed_by}"
        warps = f"a warp stays with its scheduler, which has ceil(W / {self.schedulers}) of W warps"
        return (
            self._figures(f"{head}: warp instructions per cycle {rates}, issue {self.dispatch}"),
            warps,
            *self.inherited("sm", "units"),
            *self._doubts,
        )

    def inherited(self, *sections: str) -> tuple[str, ...]:
        """Return what is taken for granted about sections of the architecture that are those of another SM."""
        known = architecture(self.arch)
        return known.assumptions(*sections) if known is not None else ()

    def _figures(self, text: str) -> str:
        """Return what says the figures of the SM: published, unless a file of the user changes them."""
        return Assumption(text, AssumptionStatus.ASSUMED if self.file else AssumptionStatus.PUBLISHED)

    @property
    def _changed_by(self) -> str:
        return f", changed by {self.file}" if self.file else ""

    @property
    def _doubts(self) -> tuple[str, ...]:
        return tuple(f"no source confirms '{unit}' of compute capability {self.capability}" for unit in self.unsure)


def _sigma(sigma: Fraction) -> Fraction:
    return Fraction(floor(sigma)) if sigma > 1 else sigma


def load(arch: str) -> Multiprocessor:
    """Return the SM of `sm_61` and the like.

    Raises InputError `unknown-sm` where no architecture file describes it, `bad-table` where one is not well formed.
    """
    name, _ = named(arch)
    row = rows(name, "sm").get("") if name else None
    if row is None:
        raise InputError("unknown-sm", f"no architecture file describes the SM of {arch}", hint=f"known: {', '.join(capabilities())}")
    return _load(name, row)


def capabilities() -> tuple[str, ...]:
    """Return the compute capabilities whose SM is described."""
    return tuple(described(name).capability for name in names() if rows(name, "sm"))


@lru_cache(maxsize=64)
def _load(name: str, row: FactRow) -> Multiprocessor:
    row.fields.only(*NUMBERS, *PAIRS, "partitions", "unsure", "slower", "source")
    return entry(described(name).capability, row.fields, row.source, pipes_of(name))


def entry(capability: str, fields: Fields, source: str, pipes: tuple[Pipe, ...], file: str = "") -> Multiprocessor:
    """Return one SM from its numbers.

    Raises InputError `bad-machine` where one is missing, has no meaning, or contradicts another.
    """
    numbers = {key: fields.whole(key) for key in NUMBERS if key not in OPTIONAL or key in fields}
    schedulers, dispatch = fields.pair("issue")
    unsure = fields.texts("unsure")
    if any(key not in (*NUMBERS, *PAIRS) for key in unsure):
        raise fields.fail("unsure", "must name keys of the table")
    sm = Multiprocessor(
        capability=capability,
        schedulers=schedulers,
        dispatch=dispatch,
        shared=fields.pair("shared"),
        unsure=unsure,
        source=source,
        partitions=fields.flag("partitions", default=True),
        pipes=pipes,
        file=file,
        slower=fields.texts("slower"),
        **numbers,
    )
    check(sm, fields)
    return sm


def of_product(sm: Multiprocessor, lanes: Mapping[str, int], source: str = "") -> Multiprocessor:
    """Return the SM of one product, with its own `lanes`, by their key, where they are not those of the SM."""
    if not lanes:
        return replace(sm, slower=())
    unsure, changed = tuple(key for key in sm.unsure if key not in lanes), dict[str, Any](lanes)
    pipes = with_lanes(sm.pipes, lanes, sm.schedulers)
    return replace(sm, slower=(), unsure=unsure, pipes=pipes, source=f"{sm.source}; {source}", **changed)


def check(sm: Multiprocessor, fields: Fields) -> None:
    """Raise InputError where the numbers of an SM contradict each other; `fields` name them in the error."""
    contradictions = (
        (sm.dispatch > _MOST_DISPATCH, "issue", "no scheduler has more than two dispatch units"),
        (
            sm.shared[1] > sm.shared[0],
            "shared",
            f"a block of {sm.shared[1]} KB does not fit into the {sm.shared[0]} KB of the SM",
        ),
        (sm.warps % sm.schedulers != 0, "warps", f"{sm.warps} warps cannot be divided among {sm.schedulers} schedulers"),
        (sm.blocks > sm.warps, "blocks", f"{sm.blocks} blocks need more than the {sm.warps} warps of the SM"),
        (sm.registers < WARP_SIZE * sm.warps, "registers", "less than one register per thread"),
    )
    for wrong, key, why in contradictions:
        if wrong:
            raise fields.fail(key, why)
    for key in LANES:
        lanes = sm.lanes[key]
        if key not in (TENSOR, TENSOR_SINGLE) and lanes > WARP_SIZE * sm.issue:
            raise fields.fail(key, f"{lanes} results per clock are more than {sm.issue} warp instructions per clock")
        if lanes % sm.schedulers and (key in _DIVIDED or any(_divided(pipe, key) for pipe in sm.pipes)):
            raise fields.fail(key, f"{lanes} lanes cannot be divided among {sm.schedulers} schedulers")


def _divided(pipe: Pipe, key: str) -> bool:
    return pipe.scope == PARTITION and pipe.lanes == key
