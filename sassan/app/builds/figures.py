"""What a document says of the code of a function: its accesses and branches, each with its place (`profile.ProfileFields`)."""

from dataclasses import dataclass
from math import inf
from pathlib import PurePath

from sassan.access.opcodes import Space
from sassan.checked import Fields

LOCAL = frozenset({Space.LOCAL.value})
SHARED = frozenset({Space.SHARED.value})
GLOBAL = frozenset({Space.GLOBAL.value, Space.GENERIC.value})


@dataclass(frozen=True, slots=True)
class Site:
    """An access: its place, and its transactions by all lanes of a warp with the fewest that its bytes need; None: not known."""

    address: int
    opcode: str
    space: str
    source: str = ""
    """As `k.cu:31`, '' where it is not known."""
    transactions: int | None = None
    ideal: int | None = None
    exact: bool = True

    @property
    def stem(self) -> str:
        """Return its opcode without modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def waste(self) -> int:
        """Return the transactions that it makes at most beyond the ideal, 0 where they are not known."""
        return 0 if self.transactions is None or self.ideal is None else max(0, self.transactions - self.ideal)

    @property
    def place(self) -> str:
        """Return where it stands: a line of the source, or else an address."""
        return self.source or f"0x{self.address:04x}"


@dataclass(frozen=True, slots=True)
class Code:
    """The accesses of memory and the branches that may split a warp; `block` is the one that transactions are counted for.

    `accesses` is None where the input does not tell them (PTX), `assumed` whether no block is given.
    """

    block: str
    assumed: bool
    local: int | None
    accesses: tuple[Site, ...] | None
    divergent: tuple[Site, ...]

    def of(self, spaces: frozenset[str]) -> tuple[Site, ...]:
        """Return the accesses of some memories."""
        return tuple(site for site in self.accesses or () if site.space in spaces)

    def wasted(self, spaces: frozenset[str]) -> int:
        """Return the transactions that all accesses together waste, each executed once."""
        return sum(site.waste for site in self.of(spaces))


def code_of(fields: Fields) -> Code:
    """Return what a document tells; raises its error."""
    return Code(
        fields.text("block", ""),
        fields.flag("assumed"),
        whole(fields, "local"),
        tuple(map(_site, fields.tables("accesses"))) if "accesses" in fields else None,
        tuple(map(_site, fields.tables("divergent"))),
    )


def _site(fields: Fields) -> Site:
    source = fields.table("source")
    return Site(
        fields.address("address"),
        fields.text("opcode", ""),
        fields.text("space", ""),
        f"{PurePath(source.text('file')).name}:{source.whole('line', least=0)}" if source.values else "",
        whole(fields, "transactions"),
        whole(fields, "ideal"),
        fields.flag("exact"),
    )


def whole(table: Fields, key: str) -> int | None:
    """Return the number under a key, None where there is none."""
    return table.whole(key, least=0, most=inf) if key in table else None
