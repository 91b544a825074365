"""What a document says of the code of a function: its accesses and branches, each with its place (`profile.ProfileFields`)."""

from dataclasses import dataclass

from sassan.access.opcodes import MemorySpace
from sassan.app.builds.profile import DivergentBranchFields, ProfiledAccessFields, ProfileFields
from sassan.app.builds.read_fields import made, value
from sassan.checked import Fields
from sassan.fields.kinds import LINE, SourceLocation, address

LOCAL = frozenset({MemorySpace.LOCAL.value})
SHARED = frozenset({MemorySpace.SHARED.value})
GLOBAL = frozenset({MemorySpace.GLOBAL.value, MemorySpace.GENERIC.value})


@dataclass(frozen=True, slots=True)
class Site:
    """An access: its place, and its transactions by all lanes of a warp with the fewest that its bytes need; None: not known."""

    address: int
    opcode: str = ""
    space: str = ""
    source: SourceLocation | None = None
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
        return address(self.address) if self.source is None else LINE.shown(self.source)


@dataclass(frozen=True, slots=True)
class CodeFigures:
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


def code_of(fields: Fields) -> CodeFigures:
    """Return what a document tells; raises its error."""
    return CodeFigures(
        value(ProfileFields.block, fields),
        value(ProfileFields.assumed, fields),
        value(ProfileFields.local, fields),
        tuple(made(Site, ProfiledAccessFields, each) for each in fields.tables("accesses")) if "accesses" in fields else None,
        tuple(made(Site, DivergentBranchFields, each) for each in fields.tables("divergent")),
    )
