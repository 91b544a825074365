"""What a search found: the best, the front, how it got there, and how many individuals came to nothing. A function of the state alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sassan.evolve.config import Config
from sassan.evolve.genes import Choice, Genome
from sassan.evolve.outcome import INFINITE, Fate, Outcome
from sassan.evolve.state import State


@dataclass(frozen=True, slots=True)
class Individual:
    """A genome, what it stands for, and what became of it."""

    genome: Genome
    choice: Choice
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Answer:
    """`best` has the least first cost, then second, and so on; None where nothing is bounded. Nothing dominates the `front`, best first.

    `curves` holds, for each search, the best cost so far of each objective after each evaluation, infinite before the first bound.
    """

    default: Individual
    best: Individual | None
    front: tuple[Individual, ...]
    fates: Mapping[str, int]
    generations: int
    curves: Mapping[str, tuple[tuple[float, ...], ...]]
    sampled: Individual | None
    """The best of random search."""


def answer(config: Config, state: State) -> Answer:
    """Return what a search found so far."""

    def individual(genome: Genome) -> Individual:
        return Individual(genome, config.space.choice(genome), state.known[genome])

    bounded = _sorted(state, state.evolved)
    sampled = _sorted(state, state.sampled)
    fates = Counter(state.known[one].fate for one in state.evolved)
    return Answer(
        default=individual(config.space.default),
        best=individual(bounded[0]) if bounded else None,
        front=tuple(individual(one) for one in _front(state, bounded)),
        fates={fate.value: fates[fate] for fate in Fate},
        generations=state.generation,
        curves={
            name: curve(state, order, len(config.objectives))
            for name, order in (("evolution", state.evolved), ("random search", state.sampled))
            if order
        },
        sampled=individual(sampled[0]) if sampled else None,
    )


def _sorted(state: State, genomes: Sequence[Genome]) -> list[Genome]:
    """Return the genomes with costs, the least costs first; of equal ones that with most defaults."""
    bounded = [one for one in genomes if state.known[one].fate is Fate.BOUNDED]
    return sorted(bounded, key=lambda one: (state.known[one].costs, sum(map(bool, one)), one))


def _front(state: State, ordered: Sequence[Genome]) -> list[Genome]:
    """Return one genome for each cost vector that no other dominates."""
    found: list[Genome] = []
    for genome in ordered:
        costs = state.known[genome].costs
        if not any(all(a <= b for a, b in zip(state.known[one].costs, costs, strict=True)) for one in found):
            found.append(genome)
    return found


def curve(state: State, order: Sequence[Genome], objectives: int) -> tuple[tuple[float, ...], ...]:
    """Return the best cost so far of each objective after each evaluation."""
    best = (INFINITE,) * objectives
    out: list[tuple[float, ...]] = []
    for genome in order:
        best = tuple(map(min, best, state.known[genome].fitness(objectives)))
        out.append(best)
    return tuple(out)
