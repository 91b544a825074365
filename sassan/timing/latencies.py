"""Latencies by class of opcode: the section `latencies` of an architecture file, and what a user overrides."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from math import ceil

from sassan.arch import FactRow, cached, described, rows, with_code
from sassan.arch import names as arch_names
from sassan.assumptions import Assumption, AssumptionStatus, published
from sassan.errors import InputError, UsageError
from sassan.isa.tables import unit

READ = "read"
"""The name for how long an instruction takes to read its operands, from when its unit takes it; without a value, as long as it lasts."""
_CLASS, _CYCLES, _OPCODE = "class.", "cycles.", "opcode."
_DEPENDENCY = "griddependency"
_OVER = "the grid that a launch waits for (griddepcontrol.wait) is over when the launch begins: the wait is none; --latency {}=N adds one"
_MOST = 10**9


@dataclass(frozen=True, slots=True)
class Class:
    """Opcodes of one latency.

    `blocks`: the warp issues nothing before it is over; `drains`: nor before all earlier ones have ended; `keeps`: it needs its operands
    until it ends. `engine`: an engine of the SM does the work. `dram`: it may wait for DRAM.
    """

    name: str
    patterns: tuple[str, ...]
    units: tuple[str, ...]
    blocks: bool
    drains: bool
    keeps: bool
    engine: bool = False
    dram: bool = False

    def names(self, opcode: str) -> bool:
        """Say whether a pattern of the class fits an opcode with its modifiers."""
        return _named(opcode, self.patterns)


@dataclass(frozen=True, slots=True)
class Figure:
    """One latency of an architecture, in cycles."""

    cycles: int
    unsure: bool
    source: str


@dataclass(frozen=True, slots=True)
class OpcodeFigure:
    """A figure of its own for opcodes of a class: of a matrix product by its shape and types."""

    name: str
    patterns: tuple[str, ...]
    figure: Figure


@dataclass(frozen=True, slots=True)
class LatencyTable:
    """The latencies of one architecture: classes in the order in which they are tried, and the figures of those that have one.

    `opcodes` go before the figure of the class, in their order.
    """

    classes: tuple[Class, ...]
    figures: Mapping[str, Figure]
    opcodes: tuple[OpcodeFigure, ...] = ()


def _named(opcode: str, patterns: Iterable[str]) -> bool:
    base = opcode.partition(".")[0]
    return any(fnmatchcase(opcode if "." in pattern else base, pattern) for pattern in patterns)


class Latencies:
    """The latencies of one architecture (`sm_61`); `overrides` by name go over those of its file."""

    def __init__(self, arch: str, overrides: Mapping[str, int]) -> None:
        """Take what goes over the table, whose names are known (`known`)."""
        self._table = load(arch)
        self._arch = arch
        self._overrides = dict(overrides)
        self._classes: dict[str, Class | None] = {}

    def of(self, opcode: str) -> Class | None:
        """Return the class of an opcode with its modifiers, None where there is none: the first that names it, else that of its unit."""
        if opcode not in self._classes:
            named = next((kind for kind in self._table.classes if kind.names(opcode)), None)
            self._classes[opcode] = named or self._of_unit(unit(self._arch, opcode))
        return self._classes[opcode]

    def _of_unit(self, name: str) -> Class | None:
        return next((kind for kind in self._table.classes if name in kind.units), None)

    def figure(self, name: str) -> Figure | None:
        """Return the entry of the table for a class on this architecture."""
        return self._table.figures.get(name)

    def cycles(self, name: str) -> int | None:
        """Return the latency of a class, None where it is unknown."""
        if name in self._overrides:
            return self._overrides[name]
        figure = self.figure(name)
        return None if figure is None else figure.cycles

    def opcode_figure(self, kind: Class, opcode: str) -> OpcodeFigure | None:
        """Return the figure that an opcode has beside that of its class; None where it has none, or the class was given another."""
        if kind.name in self._overrides:
            return None
        return next((each for each in self._table.opcodes if _named(opcode, each.patterns)), None)

    def cycles_of(self, kind: Class, opcode: str) -> int | None:
        """Return the latency of an opcode of a class, None where it is unknown."""
        special = self.opcode_figure(kind, opcode)
        return self.cycles(kind.name) if special is None else special.figure.cycles

    def reading(self, kind: Class) -> int | None:
        """Return how long an instruction of a class takes to read its operands, at most."""
        cycles, reading = self.cycles(kind.name), self.cycles(READ)
        if reading is None or cycles is None or (kind.keeps and READ not in self._overrides):
            return cycles
        return min(cycles, reading)

    def reading_assumptions(self) -> tuple[str, ...]:
        """Return what a bound that uses `reading` takes for granted."""
        cycles, figure = self.cycles(READ), self.figure(READ)
        if cycles is None:
            return ()
        unsure = figure is not None and figure.unsure
        if READ in self._overrides:
            how = f"--latency {READ}"
        else:
            how = f"{'no publication gives this' if unsure else 'published'}; set it with --latency {READ}=N"
        kind = AssumptionStatus.ASSUMED if unsure or READ in self._overrides else AssumptionStatus.PUBLISHED
        return (Assumption(f"operands are read within {cycles} cycles of when the unit takes the instruction ({how})", kind),)

    def assumptions(self, opcodes: Iterable[str]) -> tuple[str, ...]:
        """Return what a bound over these opcodes takes for granted."""
        classed = [(kind, self.opcode_figure(kind, opcode)) for opcode in opcodes if (kind := self.of(opcode)) is not None]
        singled = sorted({(special.name, special.figure.cycles) for _, special in classed if special is not None})
        names = sorted({kind.name for kind, special in classed if special is None})
        known = [(name, cycles) for name in names if (cycles := self.cycles(name)) is not None]
        values = ", ".join(f"{name} {cycles}" for name, cycles in (*known, *singled))
        names = sorted({kind.name for kind, _ in classed})
        defaults = [name for name in names if name not in self._overrides]
        unsure = {kind.name for kind, special in classed if special is None}
        doubts = [name for name in defaults if name in unsure and (figure := self.figure(name)) is not None and figure.unsure]
        out = [f"no instruction takes longer than its latency, under whatever contention; in cycles: {values}"]
        if defaults:
            caution = "published latencies are averages or minima, no bounds; set worst ones with --latency NAME=N"
            out.append(published(f"{caution}: {', '.join(defaults)}"))
        if doubts:
            out.append(f"no publication gives these latencies: {', '.join(doubts)}")
        if _DEPENDENCY in defaults:
            out.append(_OVER.format(_DEPENDENCY))
        if defaults:
            out += described(self._arch).assumptions("latencies")
        return tuple(out)


def waiting_longer(arch: str, times: Fraction, known: Mapping[str, int]) -> dict[str, int]:
    """Return the latencies of classes that may wait for DRAM, so many times as long; `known` are those of a user's machine."""
    latencies = Latencies(arch, known)
    cycles = {kind.name: latencies.cycles(kind.name) for kind in load(arch).classes if kind.dram}
    return {name: ceil(each * times) for name, each in cycles.items() if each is not None}


def known(overrides: Iterable[str], file: str, code: str = "bad-machine") -> None:
    """Refuse names of latencies in a machine file, or in that of a GPU (`bad-gpu`), that no class has.

    Raises InputError with the code.
    """
    for name in overrides:
        if name not in names():
            raise InputError(code, f"{file}: latency.{name}: unknown latency", hint=f"known: {', '.join(names())}")


def parse(texts: Iterable[str]) -> dict[str, int]:
    """Return the latencies of `global=900,shared=60`, several of them.

    Raises UsageError `bad-latency`.
    """
    out: dict[str, int] = {}
    for part in (item.strip() for text in texts for item in text.split(",")):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in names():
            raise UsageError("bad-latency", f"--latency {part!r}: unknown latency '{name}'", hint=f"known: {', '.join(names())}")
        if not (value.isascii() and value.isdigit() and 1 <= int(value) <= _MOST):
            raise UsageError("bad-latency", f"--latency {part!r}: not a number of cycles", hint=f"--latency {name}=400")
        if out.setdefault(name, int(value)) != int(value):
            raise UsageError("bad-latency", f"--latency names '{name}' twice", hint="give each latency once")
    return out


@cached
def names() -> tuple[str, ...]:
    """Return the names that a user may give a latency, of whatever architecture."""
    classes = {kind.name for arch in arch_names() if with_code(arch) for kind in load(arch).classes}
    return (*sorted(classes), READ)


@cached
def load(arch: str) -> LatencyTable:
    """Return the latencies of an architecture (`sm_61`).

    Raises InputError `bad-table` with the file and the key.
    """
    tables = rows(arch, "latencies")
    classes = tuple(_class(path.removeprefix(_CLASS), row) for path, row in tables.items() if path.startswith(_CLASS))
    figures = {path.removeprefix(_CYCLES): _figure(row) for path, row in tables.items() if path.startswith(_CYCLES)}
    opcodes = tuple(_opcode(path.removeprefix(_OPCODE), row) for path, row in tables.items() if path.startswith(_OPCODE))
    known_classes = {kind.name for kind in classes}
    for path, row in tables.items():
        kind, _, name = path.partition(".")
        if kind == "opcode":
            continue
        if kind not in ("class", "cycles") or name not in {*known_classes, READ}:
            raise row.fields.fail("cycles", f"must be of a class: {', '.join(sorted(known_classes))}")
    return LatencyTable(classes, figures, opcodes)


def _class(name: str, row: FactRow) -> Class:
    fields = row.fields
    fields.only("names", "units", "blocks", "drains", "keeps", "engine", "dram", "source")
    patterns, units = fields.texts("names"), fields.texts("units")
    if not patterns and not units:
        raise fields.fail("names", "must name opcodes, or 'units' their functional units")
    flags = (fields.flag(key) for key in ("blocks", "drains", "keeps", "engine", "dram"))
    return Class(name, patterns, units, *flags)


def _opcode(name: str, row: FactRow) -> OpcodeFigure:
    row.fields.only("names", "cycles", "unsure", "source")
    return OpcodeFigure(name, row.fields.texts("names"), Figure(row.fields.whole("cycles"), row.fields.flag("unsure"), row.source))


def _figure(row: FactRow) -> Figure:
    row.fields.only("cycles", "unsure", "source")
    return Figure(row.fields.whole("cycles"), row.fields.flag("unsure"), row.source)
