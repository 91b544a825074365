"""The unit map (`units.toml`): which lanes run an opcode, whether all warps of the SM share them, and for how long it keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources

from sassan.checked import Fields, Format

FORMAT = Format("bad-machine", "sassan/machine/README.md describes machine files")
LANES = ("fp32", "int32", "fp64", "fp16", "sfu", "ldst", "tex", "conv64")
"""The keys of the SM table that count lanes."""
PARTITION, SM = "partition", "sm"
"""Scopes: the lanes are divided among the schedulers; all warps of the SM share them."""
_WARP_SIZE = 32
_EVERY = (0, 999)


@dataclass(frozen=True, slots=True)
class Pipe:
    """One row of the unit map. `lanes` is a key of the SM table, '' where `cycles` says at once how long an instruction keeps the unit.

    `passes` is how often an instruction goes through the lanes. `names` are
    shell patterns over the mnemonic, or over the whole opcode where they hold a dot; none: every opcode of the unit.
    """

    unit: str
    names: tuple[str, ...]
    first: int
    last: int
    lanes: str
    scope: str
    passes: int = 1
    cycles: int = 0
    unsure: bool = False
    source: str = ""

    def fits(self, unit: str, opcode: str) -> bool:
        """Say whether the row speaks of this opcode of this unit."""
        if unit != self.unit:
            return False
        base = opcode.partition(".")[0]
        return not self.names or any(fnmatchcase(opcode if "." in one else base, one) for one in self.names)

    def interval(self, lanes: Mapping[str, int], schedulers: int) -> int | None:
        """Return the cycles from the issue of one instruction of a warp to that of the next: ceil(32 / lanes); None without such lanes.

        Where the lanes are divided among the schedulers, a warp has those of its own scheduler.
        """
        if self.cycles:
            return self.cycles
        mine = lanes.get(self.lanes, 0) // (schedulers if self.scope == PARTITION else 1)
        return -(-_WARP_SIZE * self.passes // mine) if mine else None


@dataclass(frozen=True, slots=True)
class Change:
    """What a machine file says of one unit; 0 and '' are what it does not say."""

    cycles: int = 0
    scope: str = ""


def changed(pipes: tuple[Pipe, ...], changes: Mapping[str, Change]) -> tuple[Pipe, ...]:
    """Return the rows as a machine file wants them: slower opcodes stay slower by their passes."""
    return tuple(_changed(one, changes[one.unit]) if one.unit in changes else one for one in pipes)


def _changed(one: Pipe, change: Change) -> Pipe:
    scope = change.scope or one.scope
    if change.cycles:
        return replace(one, scope=scope, cycles=change.cycles, unsure=False)
    return replace(one, scope=scope)


@cache
def table() -> tuple[Pipe, ...]:
    """Return all rows, checked.

    Raises InputError `bad-machine`.
    """
    return read("units.toml", resources.files("sassan.machine").joinpath("units.toml").read_text("utf-8"))


def read(name: str, text: str) -> tuple[Pipe, ...]:
    """Return the checked rows of a unit map.

    Raises InputError `bad-machine` with the file and the key.
    """
    file = FORMAT.toml(name, text)
    file.only("sources", "unit")
    known = tuple(file.table("sources").values)
    return tuple(_row(one, known) for one in file.tables("unit"))


def _row(one: Fields, sources: tuple[str, ...]) -> Pipe:
    one.only("unit", "names", "archs", "lanes", "passes", "cycles", "scope", "unsure", "source")
    if ("lanes" in one.values) == ("cycles" in one.values):
        raise one.fail("lanes", "a unit has lanes or cycles, one of them")
    first, last = one.pair("archs", _EVERY, least=0)
    return Pipe(
        unit=one.text("unit"),
        names=one.texts("names"),
        first=first,
        last=last,
        lanes=one.choice("lanes", LANES) if "lanes" in one.values else "",
        scope=one.choice("scope", (PARTITION, SM)),
        passes=one.whole("passes", 1),
        cycles=one.whole("cycles") if "cycles" in one else 0,
        unsure=one.flag("unsure"),
        source=one.choice("source", sources),
    )
