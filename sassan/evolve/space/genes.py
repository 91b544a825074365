"""Genes, the space of genomes, and the choice of values that a genome encodes.

A genome is a tuple of indices, one per position of the space, each below the size of its position; all zeros is the compiler's default.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod

Genome = tuple[int, ...]
Value = int | str | bool
"""A value of a gene: a number or a text; False: the option is omitted; True: a flag without a value."""


class GeneKind(StrEnum):
    """The kind of a gene."""

    MACRO = "macro"
    FLAG = "flag"
    LAUNCH = "launch"
    """A number used only by the launch shape."""
    ORDER = "order"
    """The order of independent PTX instructions: priorities of list scheduling."""


@dataclass(frozen=True, slots=True)
class Gene:
    """A gene: the first of `values` is the default. ORDER has no values but `keys` positions of `levels` values each."""

    kind: GeneKind
    name: str
    values: tuple[Value, ...] = ()
    keys: int = 0
    levels: int = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of values of each position of the gene."""
        return (self.levels,) * self.keys if self.kind is GeneKind.ORDER else (len(self.values),)


@dataclass(frozen=True, slots=True)
class GenomeValues:
    """The values that a genome encodes, by kind and name, and the keys of the order (empty: the compiler's order)."""

    macros: tuple[tuple[str, Value], ...] = ()
    flags: tuple[tuple[str, Value], ...] = ()
    launch: tuple[tuple[str, Value], ...] = ()
    order: tuple[int, ...] = ()

    @property
    def numbers(self) -> Mapping[str, int]:
        """Return the integers that launch expressions may refer to."""
        return {name: value for name, value in (*self.macros, *self.launch) if isinstance(value, int) and not isinstance(value, bool)}

    @property
    def words(self) -> tuple[str, ...]:
        """Return the choice as command-line arguments, without defaults."""
        return (*_arguments(self.macros, "-D"), *_arguments(self.flags, ""))

    def __str__(self) -> str:
        """Return the choice as text."""
        shape = tuple(f"{name}={value}" for name, value in self.launch)
        ordered = ("reordered",) if any(self.order) else ()
        return " ".join((*self.words, *shape, *ordered)) or "(the compiler's default)"


def _arguments(pairs: Iterable[tuple[str, Value]], before: str) -> tuple[str, ...]:
    return tuple(f"{before}{name}" if value is True else f"{before}{name}={value}" for name, value in pairs if value is not False)


@dataclass(frozen=True, slots=True)
class GenomeSpace:
    """The space of genomes over some genes; the keys of orders are the last positions."""

    genes: tuple[Gene, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of values of each position."""
        return tuple(size for gene in self._ordered for size in gene.sizes)

    @property
    def choices(self) -> int:
        """Return the number of positions that are not keys of an order."""
        return sum(gene.kind is not GeneKind.ORDER for gene in self.genes)

    @property
    def size(self) -> int:
        """Return the number of genomes."""
        return prod(self.sizes)

    @property
    def default(self) -> Genome:
        """Return the genome of the compiler's default."""
        return (0,) * len(self.sizes)

    @property
    def _ordered(self) -> tuple[Gene, ...]:
        return tuple(sorted(self.genes, key=lambda gene: gene.kind is GeneKind.ORDER))

    def contains(self, genome: Genome) -> bool:
        """Return whether a genome belongs to the space."""
        return len(genome) == len(self.sizes) and all(0 <= number < size for number, size in zip(genome, self.sizes, strict=True))

    def choice(self, genome: Genome) -> GenomeValues:
        """Return the values that a genome encodes."""
        values: dict[GeneKind, list[tuple[str, Value]]] = {kind: [] for kind in GeneKind}
        at = 0
        order: tuple[int, ...] = ()
        for gene in self._ordered:
            if gene.kind is GeneKind.ORDER:
                order += genome[at : at + gene.keys]
            else:
                values[gene.kind].append((gene.name, gene.values[genome[at]]))
            at += len(gene.sizes)
        return GenomeValues(
            tuple(values[GeneKind.MACRO]), tuple(values[GeneKind.FLAG]), tuple(values[GeneKind.LAUNCH]), order if any(order) else ()
        )
