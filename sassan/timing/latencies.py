"""Latencies by class of opcode: `data/latencies.toml`, and what a user says over it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pkgutil import get_data

from sassan.checked import Fields
from sassan.errors import InputError, UsageError
from sassan.isa.loading import TABLES
from sassan.isa.tables import unit

FILE = "latencies.toml"
READ = "read"
"""The name for how long an instruction of variable latency takes to read its operands; where nobody says it, as long as it lasts."""
_EVERY_ARCH = (0, 999)
_MOST = 10**9


@dataclass(frozen=True, slots=True)
class Class:
    """Opcodes of one latency. `blocks`: the warp issues nothing before it is over; `drains`: nor before all earlier ones have ended."""

    name: str
    patterns: tuple[str, ...]
    units: tuple[str, ...]
    first: int
    last: int
    blocks: bool
    drains: bool

    def fits(self, opcode: str, its_unit: str, number: int) -> bool:
        """Say whether an opcode of an architecture belongs to the class."""
        base = opcode.partition(".")[0]
        named = any(fnmatchcase(opcode if "." in one else base, one) for one in self.patterns)
        return self.first <= number <= self.last and (named or its_unit in self.units)


@dataclass(frozen=True, slots=True)
class Figure:
    """One latency of the table, in cycles."""

    name: str
    first: int
    last: int
    cycles: int
    unsure: bool
    source: str


@dataclass(frozen=True, slots=True)
class Table:
    """The whole file."""

    classes: tuple[Class, ...]
    figures: tuple[Figure, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that a user may give a latency."""
        return (*dict.fromkeys(one.name for one in self.classes), READ)


class Latencies:
    """The latencies of one architecture (`sm_61`); `told` goes over the table."""

    def __init__(self, arch: str, told: Mapping[str, int], table: Table | None = None) -> None:
        """Take the table and what goes over it, whose names are known (`known`)."""
        self._table = table or load()
        self._arch = arch
        self._number = int(arch.removeprefix("sm_"))
        self._told = dict(told)
        self._classes: dict[str, Class | None] = {}

    def of(self, opcode: str) -> Class | None:
        """Return the class of an opcode with its modifiers, None where there is none."""
        if opcode not in self._classes:
            its_unit = unit(self._arch, opcode)
            self._classes[opcode] = next((one for one in self._table.classes if one.fits(opcode, its_unit, self._number)), None)
        return self._classes[opcode]

    def figure(self, name: str) -> Figure | None:
        """Return the entry of the table for a class on this architecture."""
        return next((one for one in self._table.figures if one.name == name and one.first <= self._number <= one.last), None)

    def cycles(self, name: str) -> int | None:
        """Return the latency of a class, None where nobody says one."""
        if name in self._told:
            return self._told[name]
        found = self.figure(name)
        return None if found is None else found.cycles

    def reading(self, name: str) -> int | None:
        """Return how long an instruction of a class takes to read its operands, at most."""
        cycles, told = self.cycles(name), self._told.get(READ)
        return cycles if told is None or cycles is None else min(cycles, told)

    def assumptions(self, used: Iterable[str]) -> tuple[str, ...]:
        """Return what a bound that uses these classes takes for granted."""
        names = sorted({*used} - {READ})
        values = ", ".join(f"{name} {self.cycles(name)}" for name in names if self.cycles(name) is not None)
        defaults = [name for name in names if name not in self._told]
        doubts = [name for name in defaults if (found := self.figure(name)) is not None and found.unsure]
        out = [f"no instruction takes longer than its latency, under whatever contention; in cycles: {values}"]
        if READ in self._told:
            out.append(f"operands are read after {self._told[READ]} cycles at most (--latency {READ})")
        if defaults:
            out.append(
                f"published latencies are averages or minima, no bounds; set worst ones with --latency NAME=N: {', '.join(defaults)}"
            )
        if doubts:
            out.append(f"no publication gives these latencies: {', '.join(doubts)}")
        return tuple(out)


def known(told: Iterable[str], file: str) -> None:
    """Refuse names of latencies in a machine file that the table does not know.

    Raises InputError `bad-machine`.
    """
    names = load().names
    for name in told:
        if name not in names:
            raise InputError("bad-machine", f"{file}: latency.{name}: no such latency", hint=f"known: {', '.join(names)}")


def parse(texts: Iterable[str]) -> dict[str, int]:
    """Return the latencies of `global=900,shared=60`, several of them.

    Raises UsageError `bad-latency`.
    """
    names = load().names
    out: dict[str, int] = {}
    for part in (one.strip() for text in texts for one in text.split(",")):
        name, _, value = (one.strip() for one in part.partition("="))
        if name not in names:
            raise UsageError("bad-latency", f"--latency {part!r}: there is no latency '{name}'", hint=f"known: {', '.join(names)}")
        if not (value.isascii() and value.isdigit() and 1 <= int(value) <= _MOST):
            raise UsageError("bad-latency", f"--latency {part!r}: not a number of cycles", hint=f"--latency {name}=400")
        if out.setdefault(name, int(value)) != int(value):
            raise UsageError("bad-latency", f"--latency names '{name}' twice", hint="say each latency once")
    return out


@lru_cache(maxsize=1)
def load() -> Table:
    """Return the table.

    Raises InputError `bad-table` where it is not well formed.
    """
    data = get_data("sassan.timing", f"data/{FILE}")
    assert data is not None, "a package read from files can read its data"
    return read(FILE, data.decode("utf-8"))


def read(name: str, text: str) -> Table:
    """Return the checked table of a text.

    Raises InputError `bad-table` with the file and the key.
    """
    file = TABLES.toml(name, text)
    file.only("sources", "class", "latency")
    sources = sorted(file.table("sources").values)
    classes = tuple(_class(one, sources) for one in file.tables("class"))
    names = sorted({one.name for one in classes})
    return Table(classes, tuple(_figure(one, names, sources) for one in file.tables("latency")))


def _class(one: Fields, sources: Sequence[str]) -> Class:
    one.only("name", "names", "units", "archs", "blocks", "drains", "source")
    one.choice("source", sources)
    first, last = one.pair("archs", _EVERY_ARCH, least=0)
    patterns, units = one.texts("names"), one.texts("units")
    if not patterns and not units:
        raise one.fail("names", "must name opcodes, or 'units' units")
    return Class(one.text("name"), patterns, units, first, last, one.flag("blocks"), one.flag("drains"))


def _figure(one: Fields, names: Sequence[str], sources: Sequence[str]) -> Figure:
    one.only("name", "archs", "cycles", "unsure", "source")
    one.choice("source", sources)
    name = one.choice("name", names)
    first, last = one.pair("archs", _EVERY_ARCH, least=0)
    return Figure(name, first, last, one.whole("cycles"), one.flag("unsure"), one.text("source"))
