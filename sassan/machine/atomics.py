"""Rates of atomic operations: for how long one keeps its unit, by operation, type, place, and whether it has a result.

A unit of L2 does the operations of one access on a sector in passes: a pass does at most one on each of its words
(docs/proofs/gpu-memory.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType

from sassan.arch import FactRow, Rows, cached, rows
from sassan.assumptions import published
from sassan.errors import InputError

_MOST = 1_000_000
L2 = "l2"
"""The group of rows for both places in L2; a row of one of them goes over it."""


class AtomicKind(StrEnum):
    """Where an operation is done, and whether its result comes back."""

    RETURNING = "returning"
    """In L2, with a result."""
    REDUCING = "reducing"
    """In L2, without one."""
    SHARED = "shared"
    """In the shared memory of the SM, by one instruction; a loop of compare-and-swap is a loop of these."""


_PLACES = {
    "ATOM": AtomicKind.RETURNING,
    "ATOMG": AtomicKind.RETURNING,
    "RED": AtomicKind.REDUCING,
    "REDG": AtomicKind.REDUCING,
    "UREDGR": AtomicKind.REDUCING,
    "ATOMS": AtomicKind.SHARED,
}
OPCODES = frozenset({*_PLACES, "REDAS", "SUATOM", "SURED"})
"""Opcodes of single atomic operations; the last three have no rate (of another SM's shared memory, of surfaces)."""


@dataclass(frozen=True, slots=True)
class AtomicRate:
    """Cycles of an SM, at most: `word` from one operation on a word to the next on it, `sector` of a pass over different words of a sector.

    In shared memory `word` is a pass over the banks, and `sector` the same. `usual` is what an estimate takes for `word`. `kind` is what
    the operation is, `scale` how many times the figures of its row these are. `source` says where they come from.
    """

    kind: str
    place: AtomicKind
    word: int
    sector: int
    usual: float
    source: str
    unsure: bool = False
    scale: int = 1

    @property
    def assumption(self) -> str:
        """Return what a bound takes for granted."""
        system = " that the system sees" if self.scale > 1 else ""
        if self.place is AtomicKind.SHARED:
            text = f"atomic operations on shared memory ({self.kind}) keep it for {self.word} cycles per pass over the banks"
        else:
            text = (
                f"atomic operations{system} ({self.kind}, {self.place}) keep a unit of L2 for {self.word} cycles on a word, "
                f"for {self.sector} on different words of a sector"
            )
        return text if self.unsure else published(text)

    def of_access(self, lanes: int, collisions: int, sectors: int) -> int:
        """Return for how long the operations of one access keep the units of L2, were all done one after the other.

        `lanes` do one each, at most `collisions` of them on one word, in `sectors` sectors.
        """
        # Each operation is in one pass; a sector has no more passes than operations on one of its words.
        return min(lanes * self.word, sectors * collisions * self.sector)


@dataclass(frozen=True, slots=True)
class Atomics:
    """The rates of an SM: `kinds` are patterns of opcodes, of which the first that fits decides, `rates` by place and kind.

    `system` is how many times as long an operation takes that the whole system sees.
    """

    kinds: Mapping[str, tuple[str, ...]]
    rates: Mapping[tuple[AtomicKind, str], AtomicRate]
    system: int

    def kind(self, opcode: str) -> str:
        """Return what an atomic operation does, and on what: `double`, '' where no pattern names it."""
        return next((kind for kind, patterns in self.kinds.items() if any(fnmatchcase(opcode, each) for each in patterns)), "")

    def rate(self, opcode: str) -> AtomicRate | None:
        """Return the rate of an opcode with its modifiers, None where none is known."""
        name, *modifiers = opcode.split(".")
        place = _PLACES.get(name)
        known = self.rates.get((place, self.kind(opcode))) if place is not None else None
        if known is None or "SYS" not in modifiers:
            return known
        times = self.system
        return replace(known, word=known.word * times, sector=known.sector * times, unsure=True, scale=times)


@cached
def atomics(arch: str) -> Atomics:
    """Return the rates of atomic operations of an SM (`sm_61`).

    Raises InputError `bad-table` with the file and the key, `unknown-sm` where no file describes them.
    """
    table = rows(arch, "atomics")
    if "system" not in table:
        raise InputError("unknown-sm", f"no architecture file describes the atomic operations of {arch}")
    _check(table)
    kinds = {path.partition(".")[2]: row.fields.texts("names") for path, row in table.items() if path.startswith("kinds.")}
    rates = {
        (place, kind): _rate(place, kind, row)
        for place in AtomicKind
        for kind in kinds
        if (row := table.get(f"{place}.{kind}") or (table.get(f"{L2}.{kind}") if place is not AtomicKind.SHARED else None)) is not None
    }
    return Atomics(MappingProxyType(kinds), MappingProxyType(rates), table["system"].fields.whole("times", most=_MOST))


def _check(table: Rows) -> None:
    """Refuse rows and keys that nothing reads."""
    for path, row in table.items():
        group, _, kind = path.partition(".")
        if group not in {"system", "kinds", L2, *AtomicKind} or (group not in {"system", "kinds"} and f"kinds.{kind}" not in table):
            raise row.fields.fail("source", f"is that of '{path}'; known: system, and a kind in kinds, {L2}, {', '.join(AtomicKind)}")
        row.fields.only(*{"system": ("times",), "kinds": ("names",)}.get(group, ("word", "sector", "usual", "unsure")), "source")


def _rate(place: AtomicKind, kind: str, row: FactRow) -> AtomicRate:
    fields = row.fields
    word = fields.whole("word", most=_MOST)
    # Otherwise an operation that is alone in its pass would be charged less than the next one on its word waits.
    sector = fields.whole("sector", word, least=word, most=_MOST)
    return AtomicRate(kind, place, word, sector, fields.number("usual", least=0, most=word), row.source, fields.flag("unsure"))
