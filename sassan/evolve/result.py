"""The result of a search: the best individual, the front, the convergence, and status counts. A function of the state alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sassan.evolve.outcome import INFINITE, GenomeOutcome, OutcomeStatus
from sassan.evolve.space.config import Config
from sassan.evolve.space.genes import Genome, GenomeValues
from sassan.evolve.state import SearchState


@dataclass(frozen=True, slots=True)
class Individual:
    """A genome, its choice of values, and its outcome."""

    genome: Genome
    choice: GenomeValues
    outcome: GenomeOutcome


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search. `best`: lexicographically least costs, None if nothing is bounded; `front` is non-dominated, best first.

    `curves` has, for each search, the best cost so far of each objective after each evaluation, infinite before the first bound.
    """

    default: Individual
    best: Individual | None
    front: tuple[Individual, ...]
    status_counts: Mapping[str, int]
    generations: int
    curves: Mapping[str, tuple[tuple[float, ...], ...]]
    sampled: Individual | None
    """The best of random search."""


def search_result(config: Config, state: SearchState) -> SearchResult:
    """Return the result of a search so far."""

    def individual(genome: Genome) -> Individual:
        return Individual(genome, config.space.choice(genome), state.known[genome])

    bounded = _sorted(state, state.evolved)
    sampled = _sorted(state, state.sampled)
    counts = Counter(state.known[genome].status for genome in state.evolved)
    return SearchResult(
        default=individual(config.space.default),
        best=individual(bounded[0]) if bounded else None,
        front=tuple(individual(genome) for genome in _front(state, bounded)),
        status_counts={status.value: counts[status] for status in OutcomeStatus},
        generations=state.generation,
        curves={
            name: curve(state, order, len(config.objectives))
            for name, order in (("evolution", state.evolved), ("random search", state.sampled))
            if order
        },
        sampled=individual(sampled[0]) if sampled else None,
    )


def _sorted(state: SearchState, genomes: Sequence[Genome]) -> list[Genome]:
    """Return the genomes with costs, least costs first; on equal costs the one with the most defaults."""
    bounded = [genome for genome in genomes if state.known[genome].status is OutcomeStatus.BOUNDED]
    return sorted(bounded, key=lambda genome: (state.known[genome].costs, sum(map(bool, genome)), genome))


def _front(state: SearchState, ordered: Sequence[Genome]) -> list[Genome]:
    """Return one genome per non-dominated cost vector."""
    front: list[Genome] = []
    for genome in ordered:
        costs = state.known[genome].costs
        if not any(all(a <= b for a, b in zip(state.known[member].costs, costs, strict=True)) for member in front):
            front.append(genome)
    return front


def curve(state: SearchState, order: Sequence[Genome], objectives: int) -> tuple[tuple[float, ...], ...]:
    """Return the best cost so far of each objective after each evaluation."""
    best = (INFINITE,) * objectives
    out: list[tuple[float, ...]] = []
    for genome in order:
        best = tuple(map(min, best, state.known[genome].fitness(objectives)))
        out.append(best)
    return tuple(out)
