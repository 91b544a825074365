"""Crossover, mutation and selection: DEAP's, over the genomes of a space, with the random numbers of the search and no others."""

import random
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sassan.errors import MissingToolError
from sassan.evolve.config import Plan
from sassan.evolve.genes import Genome, Space
from sassan.extras import install

_SWAPPED = 0.5
"""Chance of each place to change sides in a crossover."""
_TRIES = 50

Fitness = Mapping[Genome, tuple[float, ...]]


class Operators:
    """DEAP's tools for one space and one number of objectives.

    NSGA-II (Deb et al. 2002): with one objective its fronts are ranks, and what is left is a tournament between elitist generations.
    """

    def __init__(self, space: Space, plan: Plan, objectives: int) -> None:
        """Take the space; raises MissingToolError `missing-extra`."""
        try:
            from deap import base, tools  # noqa: PLC0415 - an optional extra
        except ImportError as error:
            raise MissingToolError("missing-extra", "the evolutionary compiler needs DEAP", hint=install("evolve")) from error
        self._tools: Any = tools
        self._space, self._plan = space, plan
        # DEAP's `creator` would keep this class in a module: two searches would share it.
        self._fitness: Any = type("Costs", (base.Fitness,), {"weights": (-1.0,) * objectives})

    def draw(self, chance: random.Random) -> Genome:
        """Return any genome."""
        return tuple(chance.randrange(size) for size in self._space.sizes)

    def select(self, genomes: Sequence[Genome], fitness: Fitness, count: int) -> list[Genome]:
        """Return the best: whole fronts, then those of the last one that stand apart most."""
        return [one.genome for one in self._tools.selNSGA2([self._individual(one, fitness) for one in genomes], count)]

    def offspring(self, parents: Sequence[Genome], fitness: Fitness, seen: set[Genome], chance: random.Random) -> list[Genome]:
        """Return at most as many genomes as there are parents, none of them seen before; fewer where the space is nearly used up."""
        individuals = self._tools.selNSGA2([self._individual(one, fitness) for one in parents], len(parents))
        with _drawing(chance):
            chosen = [one.genome for one in self._tools.selTournamentDCD(individuals, len(individuals))]
        found: list[Genome] = []
        for first, second in zip(chosen[::2], chosen[1::2], strict=True):
            for child in self.children(first, second, chance):
                fresh = self._fresh(child, {*seen, *found}, chance)
                found += [fresh] if fresh is not None else []
        return found

    def children(self, first: Genome, second: Genome, chance: random.Random) -> tuple[Genome, Genome]:
        """Return two genomes with the places of two others, perhaps mutated."""
        one, other = list(first), list(second)
        with _drawing(chance):
            if random.random() < self._plan.crossover:  # noqa: S311 - the search's own, see _drawing
                self._tools.cxUniform(one, other, _SWAPPED)
        return self._perhaps(tuple(one), chance), self._perhaps(tuple(other), chance)

    def mutated(self, genome: Genome, chance: random.Random) -> Genome:
        """Return a genome with about one of its choices and one of its keys drawn anew."""
        sizes, border = self._space.sizes, self._space.choices
        out: list[int] = []
        with _drawing(chance):
            for part, upper in ((genome[:border], sizes[:border]), (genome[border:], sizes[border:])):
                if part:
                    (changed,) = self._tools.mutUniformInt(list(part), 0, [size - 1 for size in upper], 1 / len(part))
                    out += changed
        return tuple(out)

    def _perhaps(self, genome: Genome, chance: random.Random) -> Genome:
        return self.mutated(genome, chance) if chance.random() < self._plan.mutation else genome

    def _fresh(self, genome: Genome, seen: set[Genome], chance: random.Random) -> Genome | None:
        """Return the genome, mutated until nobody has seen it; None where that cannot be had."""
        for _ in range(_TRIES):
            if genome not in seen:
                return genome
            genome = self.mutated(genome, chance)
        return next((one for one in (self.draw(chance) for _ in range(_TRIES)) if one not in seen), None)

    def _individual(self, genome: Genome, fitness: Fitness) -> "_Individual":
        return _Individual(genome, self._fitness(fitness[genome]))


class _Individual:
    """What DEAP selects."""

    def __init__(self, genome: Genome, fitness: object) -> None:
        self.genome = genome
        self.fitness = fitness


@contextmanager
def _drawing(chance: random.Random) -> Generator[None]:
    """Lend DEAP, which draws from the module `random`, the numbers of the search; the module is left as it was."""
    before = random.getstate()
    random.setstate(chance.getstate())
    try:
        yield
    finally:
        chance.setstate(random.getstate())
        random.setstate(before)
