"""Crossover, mutation and selection by DEAP, over the genomes of a space, with the random generator of the search."""

import random
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sassan.errors import MissingToolError
from sassan.evolve.space.config import SearchPlan
from sassan.evolve.space.genes import Genome, GenomeSpace
from sassan.extras import install

_SWAPPED = 0.5
"""Probability that a crossover swaps a position."""
_TRIES = 50

Fitness = Mapping[Genome, tuple[float, ...]]


class Operators:
    """DEAP's operators for a space and a number of objectives.

    NSGA-II (Deb et al. 2002): with one objective its fronts are ranks, which leaves a tournament between elitist generations.
    """

    def __init__(self, space: GenomeSpace, plan: SearchPlan, objectives: int) -> None:
        """Prepare the operators; raises MissingToolError `missing-extra`."""
        try:
            from deap import base, tools  # noqa: PLC0415 - an optional extra
        except ImportError as error:
            raise MissingToolError("missing-extra", "the evolutionary compiler needs DEAP", hint=install("evolve")) from error
        self._tools: Any = tools
        self._space, self._plan = space, plan
        # DEAP's `creator` would put this class into a global module, shared by all searches.
        self._fitness: Any = type("Costs", (base.Fitness,), {"weights": (-1.0,) * objectives})

    def draw(self, generator: random.Random) -> Genome:
        """Return a random genome."""
        return tuple(generator.randrange(size) for size in self._space.sizes)

    def select(self, genomes: Sequence[Genome], fitness: Fitness, count: int) -> list[Genome]:
        """Return the best genomes: whole fronts, then those of the last front with the largest crowding distance."""
        return [
            individual.genome
            for individual in self._tools.selNSGA2([self._individual(individual, fitness) for individual in genomes], count)
        ]

    def offspring(self, parents: Sequence[Genome], fitness: Fitness, seen: set[Genome], generator: random.Random) -> list[Genome]:
        """Return at most as many new genomes as there are parents; fewer if the space is nearly exhausted."""
        individuals = self._tools.selNSGA2([self._individual(parent, fitness) for parent in parents], len(parents))
        with _drawing(generator):
            winners = [individual.genome for individual in self._tools.selTournamentDCD(individuals, len(individuals))]
        children: list[Genome] = []
        for first, second in zip(winners[::2], winners[1::2], strict=True):
            for child in self.children(first, second, generator):
                fresh = self._fresh(child, {*seen, *children}, generator)
                children += [fresh] if fresh is not None else []
        return children

    def children(self, first: Genome, second: Genome, generator: random.Random) -> tuple[Genome, Genome]:
        """Return two genomes by crossover of two others, possibly mutated."""
        left, right = list(first), list(second)
        with _drawing(generator):
            if random.random() < self._plan.crossover:  # noqa: S311 - the generator of the search, see _drawing
                self._tools.cxUniform(left, right, _SWAPPED)
        return self._maybe_mutated(tuple(left), generator), self._maybe_mutated(tuple(right), generator)

    def mutated(self, genome: Genome, generator: random.Random) -> Genome:
        """Return a genome with about one of its choices and one of its keys redrawn."""
        sizes, border = self._space.sizes, self._space.choices
        out: list[int] = []
        with _drawing(generator):
            for part, upper in ((genome[:border], sizes[:border]), (genome[border:], sizes[border:])):
                if part:
                    (changed,) = self._tools.mutUniformInt(list(part), 0, [size - 1 for size in upper], 1 / len(part))
                    out += changed
        return tuple(out)

    def _maybe_mutated(self, genome: Genome, generator: random.Random) -> Genome:
        return self.mutated(genome, generator) if generator.random() < self._plan.mutation else genome

    def _fresh(self, genome: Genome, seen: set[Genome], generator: random.Random) -> Genome | None:
        """Return the genome, mutated until it is new; None if no new genome is found."""
        for _ in range(_TRIES):
            if genome not in seen:
                return genome
            genome = self.mutated(genome, generator)
        return next((genome for genome in (self.draw(generator) for _ in range(_TRIES)) if genome not in seen), None)

    def _individual(self, genome: Genome, fitness: Fitness) -> "_Individual":
        return _Individual(genome, self._fitness(fitness[genome]))


class _Individual:
    """An individual for DEAP."""

    def __init__(self, genome: Genome, fitness: object) -> None:
        self.genome = genome
        self.fitness = fitness


@contextmanager
def _drawing(generator: random.Random) -> Generator[None]:
    """Make DEAP, which draws from the module `random`, use the generator of the search; the state of the module is restored."""
    before = random.getstate()
    random.setstate(generator.getstate())
    try:
        yield
    finally:
        generator.setstate(random.getstate())
        random.setstate(before)
