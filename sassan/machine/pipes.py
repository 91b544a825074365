"""The unit map of an SM: which lanes run an opcode, whether all warps of the SM share them, and for how long it keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction

from sassan.arch import FactRow, rows
from sassan.machine.matrices import multiply_adds

TENSOR = "tensor"
"""The unit of matrix products, and its key in the SM table: multiply-adds of half precision per clock, accumulated in half precision."""
TENSOR_SINGLE = "tensor_single"
"""Multiply-adds of half precision per clock with sums of single precision, where products of one SM differ in them."""
LANES = ("fp32", "int32", "fp64", "fp16", "sfu", "ldst", "tex", "conv64", TENSOR, TENSOR_SINGLE)
"""The keys of the SM table that count lanes."""
PARTITION, SM = "partition", "sm"
"""Scopes: the lanes are divided among the schedulers; all warps of the SM share them."""
_WARP_SIZE = 32


@dataclass(frozen=True, slots=True)
class Pipe:
    """One row of the unit map. `lanes` is a key of the SM table, '' where `cycles` says at once how long an instruction keeps the unit.

    `passes` is how often an instruction goes through the lanes, `products` how many multiply-adds a lane does per cycle.
    `names` are shell patterns over the mnemonic, or over the whole opcode where they hold a dot; none: every opcode of the unit.
    `standard` is the matrix product that letter T stands for, in one row of a unit map at most. `usual` is which part of the time an
    instruction keeps the unit as a rule, where that is less than a source shows it to be in the worst case: estimates take it.
    """

    unit: str
    names: tuple[str, ...]
    lanes: str
    scope: str
    passes: int = 1
    products: int = 1
    standard: str = ""
    cycles: int = 0
    usual: float = 1.0
    unsure: bool = False
    source: str = ""

    def fits(self, unit: str, opcode: str) -> bool:
        """Say whether the row is for this opcode of this unit: lanes say nothing of a matrix product without a shape."""
        return self.matches(unit, opcode) and not (self.lanes and not self._work(opcode))

    def matches(self, unit: str, opcode: str) -> bool:
        """Say whether the row names this opcode of this unit."""
        if unit != self.unit:
            return False
        base = opcode.partition(".")[0]
        return not self.names or any(fnmatchcase(opcode if "." in pattern else base, pattern) for pattern in self.names)

    def _work(self, opcode: str) -> int:
        """Return what the lanes do for one instruction of a warp: one result of each thread, or the multiply-adds of its matrix product."""
        return multiply_adds(opcode) if self.unit == TENSOR else _WARP_SIZE

    def rate(self, lanes: Mapping[str, int]) -> Fraction:
        """Return the multiply-adds that all partitions do per clock; 0 where `cycles` says how long an instruction keeps the unit."""
        return Fraction(self.products * lanes.get(self.lanes, 0), self.passes)

    def interval(self, opcode: str, lanes: Mapping[str, int], schedulers: int) -> int | None:
        """Return the cycles from the issue of one instruction of a warp to that of the next: ceil(work / lanes); None without such lanes.

        Where the lanes are divided among the schedulers, a warp has those of its own scheduler.
        """
        if self.cycles:
            return self.cycles
        available = self.products * lanes.get(self.lanes, 0) // (schedulers if self.scope == PARTITION else 1)
        return -(-self._work(opcode) * self.passes // available) if available else None


@dataclass(frozen=True, slots=True)
class PipeOverride:
    """What a machine file gives for one unit; 0 and '' where it gives nothing."""

    cycles: int = 0
    scope: str = ""


def changed(pipes: tuple[Pipe, ...], changes: Mapping[str, PipeOverride]) -> tuple[Pipe, ...]:
    """Return the rows with the changes of a machine file: slower opcodes stay slower by their passes."""
    return tuple(_changed(pipe, changes[pipe.unit]) if pipe.unit in changes else pipe for pipe in pipes)


def _changed(pipe: Pipe, change: PipeOverride) -> Pipe:
    scope = change.scope or pipe.scope
    if change.cycles:
        return replace(pipe, scope=scope, cycles=change.cycles, usual=1.0, unsure=False)
    return replace(pipe, scope=scope)


def with_lanes(pipes: tuple[Pipe, ...], lanes: Mapping[str, int], schedulers: int) -> tuple[Pipe, ...]:
    """Return the rows of an SM with other lanes: where there are fewer than schedulers, all warps of the SM share them."""
    few = {key for key, value in lanes.items() if value < schedulers}
    return tuple(replace(pipe, scope=SM, products=1) if pipe.lanes in few and pipe.scope == PARTITION else pipe for pipe in pipes)


def pipes_of(arch: str) -> tuple[Pipe, ...]:
    """Return the unit map of an SM (`sm_61`): rows that name opcodes come before those for the rest of a unit.

    Raises InputError `bad-table` with the file and the key.
    """
    pipes = [_pipe(path, row) for path, row in rows(arch, "units").items()]
    return tuple(sorted(pipes, key=lambda pipe: not pipe.names))


def _pipe(path: str, row: FactRow) -> Pipe:
    fields = row.fields
    fields.only("unit", "names", "lanes", "passes", "products", "standard", "cycles", "usual", "scope", "unsure", "source")
    if ("lanes" in fields) == ("cycles" in fields):
        raise fields.fail("lanes", "a unit has either lanes or cycles")
    return Pipe(
        unit=fields.text("unit", path),
        names=fields.texts("names"),
        lanes=fields.choice("lanes", LANES) if "lanes" in fields else "",
        scope=fields.choice("scope", (PARTITION, SM)),
        passes=fields.whole("passes", 1),
        products=fields.whole("products", 1),
        standard=fields.text("standard", ""),
        cycles=fields.whole("cycles") if "cycles" in fields else 0,
        usual=fields.number("usual", 1.0, least=0, most=1),
        unsure=fields.flag("unsure"),
        source=row.source,
    )
