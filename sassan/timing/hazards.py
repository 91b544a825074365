"""When results are there and operands have been read: the tables that the check of control codes rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import NamedTuple

from sassan.arch import cached, described, rows
from sassan.checked import Fields
from sassan.errors import InputError
from sassan.ir import Instruction, Register
from sassan.isa.facts import Facts
from sassan.isa.registers import bit, span
from sassan.isa.tables import unit, units

RAW, WAW, WAR = "raw", "waw", "war"
"""Dependences: a read after a write, a write after a write, a write after a read."""
GUARD = "guard"
"""The file under which distances to a guard stand: it is read earlier than a predicate operand."""
FILES: Mapping[str, int] = MappingProxyType(
    {
        "R": span("R", 0, 256),
        "P": span("P", 0, 16),
        "UR": span("UR", 0, 256),
        "UP": span("UP", 0, 8),
        "CC": span("CC", 0, 8),
    }
)
"""The registers of each file. Convergence barriers are not among them: the hardware keeps score of those (NAK)."""
_CHECKED = reduce(or_, FILES.values())
ANY = "any"
_WIDE, _WIDE_HIGH = "wide", "widehigh"


@dataclass(frozen=True, slots=True)
class _Rule:
    """`value` holds for opcodes that fit one of the patterns."""

    value: str
    patterns: tuple[str, ...]

    def fits(self, opcode: str) -> bool:
        base = opcode.partition(".")[0]
        return any(fnmatchcase(opcode if "." in pattern else base, pattern) for pattern in self.patterns)


FOREVER = 128
"""Cycles since an access are counted up to this many."""
ENOUGH = 30
"""So often must compilers have kept just the smallest distance to count as what hardware needs; a finding that rests on less is a note."""
PUBLISHED = -1
"""In place of a number of observations, for a distance that is published."""


class Distance(NamedTuple):
    """Cycles from issue to issue, and how often just these were sampled; `producers` and `consumers` are the opcodes seen often enough."""

    cycles: int
    seen: int = PUBLISHED
    producers: frozenset[str] = frozenset()
    consumers: frozenset[str] = frozenset()


_UNKNOWN = Distance(0)
Distances = Mapping[tuple[str, str, str, str], Distance]
"""By dependence, register file, class of the producer and class of the consumer (or ANY)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What the scheduler of one architecture must know of an opcode.

    `producer` is its class; `variable` says that the result needs a barrier; instructions of one `results` queue finish in order, those
    of one `sources` queue read their operands in order ('' is not a queue); `drains` waits until earlier accesses have read their operands.
    """

    producer: str
    variable: bool
    results: str
    sources: str
    drains: bool
    widest: bool = False
    """The facts are those of the widest form: only named registers are surely read or written."""
    early: bool = False
    """Its read barrier covers the predicates that it writes, too."""
    at_once: bool = False
    """Its barriers can be waited for by the next instruction."""
    holds: bool = False
    """The next instruction issues later than any result of fixed latency takes, whatever the control code says."""
    lasts: int | None = None
    """Cycles after which its result is there without a wait, None for no such number."""


class Hazards:
    """The tables of one architecture."""

    def __init__(self, arch: str, rules: Mapping[str, tuple[_Rule, ...]], visible: int, outlasts: bool, distances: Distances) -> None:
        """Take the rules by kind.

        `visible` is the number of cycles until a barrier that was set can be waited for; `outlasts` says that an access of a queue takes
        longer than any result of fixed latency: behind a wait for it, what was issued before it is there.
        """
        self.arch = arch
        self.visible = visible
        self.outlasts = outlasts
        self.together = described(arch).control_words
        """Whether a stall of 0 issues an instruction together with the next one."""
        self.rules = rules
        self._distances = distances
        self._profiles: dict[str, Profile] = {}
        self._longest: dict[str, int] = {}

    def profile(self, opcode: str) -> Profile:
        """Return what is known of an opcode with its modifiers."""
        profile = self._profiles.get(opcode)
        if profile is None:
            profile = self._profiles[opcode] = Profile(
                self._first("class", opcode) or unit(self.arch, opcode),
                bool(self._first("variable", opcode)),
                self._first("in_order", opcode),
                self._first("reads_in_order", opcode),
                bool(self._first("drains", opcode)),
                bool(self._first("widest", opcode)),
                bool(self._first("early", opcode)),
                bool(self._first("at_once", opcode)),
                bool(self._first("holds", opcode)),
                int(self._first("lasts", opcode) or 0) or None,
            )
        return profile

    def _first(self, kind: str, opcode: str) -> str:
        return next((rule.value for rule in self.rules[kind] if rule.fits(opcode)), "")

    def distance(self, dependence: str, file: str, producer: str, consumer: str) -> Distance:
        """Return the cycles that must lie between the issue of two classes that depend through a register file; 0 where none are known."""
        exact = self._distances.get((dependence, file, producer, consumer))
        return exact if exact is not None else self._distances.get((dependence, file, producer, ANY), _UNKNOWN)

    def longest(self, producer: str) -> int:
        """Return the largest distance that a class of producers asks for: after it, its results are there for all."""
        longest = self._longest.get(producer)
        if longest is None:
            longest = self._longest[producer] = max((each.cycles for key, each in self._distances.items() if key[2] == producer), default=0)
        return longest


def is_note(distance: Distance, producer: str, consumer: str) -> bool:
    """Say whether a distance rests on too few observations, of the classes or of one of the two opcodes."""
    if distance.seen == PUBLISHED:
        return False
    return distance.seen < ENOUGH or producer not in distance.producers or consumer not in distance.consumers


def accessed(instruction: Instruction, facts: Facts | None, profile: Profile) -> tuple[int, int, int]:
    """Return what an instruction surely reads, its guard, and what it surely writes, of the files that have hazards."""
    if facts is None:
        return 0, 0, 0
    reads, writes = _CHECKED, _CHECKED
    if profile.widest:
        named = [bit(operand.file, operand.index) if isinstance(operand, Register) else 0 for operand in instruction.operands]
        # One destination, or two of which the first may be RZ; what stands behind them is a source.
        reads, writes = reduce(or_, named[2:], 0), next((registers for registers in named[:2] if registers), 0)
    return facts.reads & reads, facts.guard & _CHECKED, facts.writes & writes


def parts(producer: str, writes: int) -> tuple[tuple[str, int], ...]:
    """Return the classes of what an instruction writes: the high half of a wide product has one of its own."""
    pair = writes & FILES["R"]
    if producer != _WIDE or not pair & (pair - 1):
        return ((producer, writes),)
    low = pair & -pair
    return ((producer, writes & ~pair | low), (_WIDE_HIGH, pair & ~low))


_KINDS = ("class", "variable", "in_order", "reads_in_order", "drains", "widest", "early", "at_once", "holds", "lasts")
_MEASURED = "measured"
"""The distances that others override."""


@cached
def load(arch: str) -> Hazards:
    """Return the tables of an architecture (`sm_61`).

    Raises InputError `unsupported-architecture` where its file gives none, `bad-table` with the file and the key.
    """
    for section in ("hazards", "distances"):
        if not rows(arch, section):
            message = f"no architecture file gives the {section} of {arch}, so its control codes cannot be checked"
            raise InputError("unsupported-architecture", message, hint="docs/developer/add-an-sm.md says how to add or inherit them")
    rules: dict[str, list[_Rule]] = {kind: [] for kind in _KINDS}
    visible, outlasts = 0, False
    for path, row in rows(arch, "hazards").items():
        kind, _, value = path.partition(".")
        if path == "barriers":
            row.fields.only("visible", "outlasts", "source")
            visible, outlasts = row.fields.whole("visible", least=0), row.fields.flag("outlasts")
        elif kind in rules and value:
            row.fields.only("names", "source")
            if kind == "lasts" and not (value.isdecimal() and 0 < int(value) <= FOREVER):
                raise row.fields.fail("names", f"must stand below a number of cycles, {FOREVER} at the most")
            rules[kind].append(_Rule(value, row.fields.texts("names")))
        else:
            raise row.fields.fail("names", f"must be a rule of {', '.join(_KINDS)}")
    classes = frozenset((*units(), *(rule.value for rule in rules["class"]), _WIDE_HIGH, ANY))
    return Hazards(arch, {kind: tuple(sections) for kind, sections in rules.items()}, visible, outlasts, _distances(arch, classes))


def _distances(arch: str, classes: frozenset[str]) -> Distances:
    """Return the distances of an architecture: published ones override measured ones, those to any consumer what was seen too rarely."""
    tables = rows(arch, "distances")
    measured, published = dict[tuple[str, str, str, str], Distance](), dict[tuple[str, str, str, str], Distance]()
    for path in sorted(tables):
        tables[path].fields.only("source", RAW, WAW)
        (measured if path == _MEASURED else published).update(_entries(tables[path].fields, classes))
    rare = {key for key, each in measured.items() if PUBLISHED < each.seen < ENOUGH and (*key[:3], ANY) in published}
    return _of_guards({key: each for key, each in measured.items() if key not in rare} | published)


def _of_guards(distances: Distances) -> Distances:
    """Return distances in which all consumers read their guard as early as any: as they issue, whatever unit they issue to."""
    least: dict[tuple[str, str, str], int] = {}
    for (*key, _), each in distances.items():
        if each.seen == PUBLISHED or each.seen >= ENOUGH:
            dependence, file, producer = key
            least[dependence, file, producer] = min(least.get((dependence, file, producer), each.cycles), each.cycles)
    return {
        key: each._replace(cycles=min(each.cycles, least.get(key[:3], each.cycles))) if key[1] == GUARD else each
        for key, each in distances.items()
    }


def _entries(fields: Fields, classes: frozenset[str]) -> Distances:
    out: dict[tuple[str, str, str, str], Distance] = {}
    for dependence in (RAW, WAW):
        fields.table(dependence).only(*FILES, GUARD)
        for file in fields.table(dependence).values:
            producers = fields.table(dependence).table(file)
            producers.only(*sorted(classes))
            for producer in producers.values:
                row = producers.table(producer)
                row.only(*sorted(classes))
                out |= {(dependence, file, producer, consumer): _entry(row, consumer) for consumer in row.values}
    return out


def _entry(row: Fields, consumer: str) -> Distance:
    """Return a published number of cycles, or a row of what was sampled."""
    if not isinstance(row.values[consumer], dict):
        return Distance(row.whole(consumer, least=0))
    sampled = row.table(consumer)
    sampled.only("cycles", "seen", "producers", "consumers")
    return Distance(
        sampled.whole("cycles", least=0),
        sampled.whole("seen", least=1),
        frozenset(sampled.texts("producers", ())),
        frozenset(sampled.texts("consumers", ())),
    )
