"""What may be chosen: genes, the space of genomes, and what a genome stands for.

A genome is a tuple of numbers, one per place of the space, each below the size of its place; all zeros is the compiler's default.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod

Genome = tuple[int, ...]
Value = int | str | bool
"""Of a gene: a number or a text; False: nothing is told, the compiler decides; True: a flag without a value."""


class Kind(StrEnum):
    """What a gene changes."""

    MACRO = "macro"
    FLAG = "flag"
    LAUNCH = "launch"
    """A number that only the shape of the launch uses."""
    ORDER = "order"
    """The order of independent PTX instructions: keys, by which those that are ready are taken."""


@dataclass(frozen=True, slots=True)
class Gene:
    """One choice: the first of `values` is the default. ORDER has none: it takes `keys` places of `levels` values each."""

    kind: Kind
    name: str
    values: tuple[Value, ...] = ()
    keys: int = 0
    levels: int = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many values each place of the gene has."""
        return (self.levels,) * self.keys if self.kind is Kind.ORDER else (len(self.values),)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a genome stands for: values by kind and name, and the keys of the order (empty: the compiler's order)."""

    macros: tuple[tuple[str, Value], ...] = ()
    flags: tuple[tuple[str, Value], ...] = ()
    launch: tuple[tuple[str, Value], ...] = ()
    order: tuple[int, ...] = ()

    @property
    def numbers(self) -> Mapping[str, int]:
        """Return the whole numbers that an expression of the launch may name."""
        return {name: value for name, value in (*self.macros, *self.launch) if isinstance(value, int) and not isinstance(value, bool)}

    @property
    def words(self) -> tuple[str, ...]:
        """Return the choice as words of a command line, what is left to the compiler left out."""
        return (*_spelled(self.macros, "-D"), *_spelled(self.flags, ""))

    def __str__(self) -> str:
        """Return what is chosen, in one line."""
        shape = tuple(f"{name}={value}" for name, value in self.launch)
        ordered = ("reordered",) if any(self.order) else ()
        return " ".join((*self.words, *shape, *ordered)) or "(the compiler's default)"


def _spelled(pairs: Iterable[tuple[str, Value]], before: str) -> tuple[str, ...]:
    return tuple(f"{before}{name}" if value is True else f"{before}{name}={value}" for name, value in pairs if value is not False)


@dataclass(frozen=True, slots=True)
class Space:
    """All genomes of some genes, the choices first and the keys of orders behind them."""

    genes: tuple[Gene, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many values each place has."""
        return tuple(size for gene in self._ordered for size in gene.sizes)

    @property
    def choices(self) -> int:
        """Return how many places are choices: those of orders stand behind them."""
        return sum(gene.kind is not Kind.ORDER for gene in self.genes)

    @property
    def size(self) -> int:
        """Return how many genomes there are."""
        return prod(self.sizes)

    @property
    def default(self) -> Genome:
        """Return the genome of the compiler's default."""
        return (0,) * len(self.sizes)

    @property
    def _ordered(self) -> tuple[Gene, ...]:
        return tuple(sorted(self.genes, key=lambda gene: gene.kind is Kind.ORDER))

    def holds(self, genome: Genome) -> bool:
        """Say whether a genome is one of the space."""
        return len(genome) == len(self.sizes) and all(0 <= one < size for one, size in zip(genome, self.sizes, strict=True))

    def choice(self, genome: Genome) -> Choice:
        """Return what a genome stands for."""
        chosen: dict[Kind, list[tuple[str, Value]]] = {kind: [] for kind in Kind}
        at = 0
        order: tuple[int, ...] = ()
        for gene in self._ordered:
            if gene.kind is Kind.ORDER:
                order += genome[at : at + gene.keys]
            else:
                chosen[gene.kind].append((gene.name, gene.values[genome[at]]))
            at += len(gene.sizes)
        return Choice(tuple(chosen[Kind.MACRO]), tuple(chosen[Kind.FLAG]), tuple(chosen[Kind.LAUNCH]), order if any(order) else ())
