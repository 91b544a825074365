"""The two searches of a run: evolution, and random search with the same budget.

`budget` counts distinct genomes; a known genome is not evaluated again. Outcomes are functions of their genomes and are returned in the
order of the genomes, so that a search depends only on its seed, not on the executor or the number of processes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from random import Random

from sassan.evolve.operators import Operators
from sassan.evolve.outcome import GenomeOutcome, OutcomeStatus
from sassan.evolve.space.config import Config
from sassan.evolve.space.genes import Genome
from sassan.evolve.state import SearchState

Evaluator = Callable[[Sequence[Genome]], Iterable[GenomeOutcome]]
"""Outcomes in the order of the genomes."""
_TRIES = 1000


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """Progress of a search: its name, the number of evaluated genomes, the budget, and the best costs so far."""

    search: str
    generation: int
    done: int
    budget: int
    best: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Hooks:
    """`save` is called between generations, with a state that may be saved; `watch` after each outcome."""

    save: Callable[[SearchState], None] = lambda _: None
    watch: Callable[[SearchProgress], None] = lambda _: None


class GenomeSearch:
    """A search over a configuration."""

    def __init__(self, config: Config, evaluate: Evaluator, hooks: Hooks | None = None) -> None:
        """Prepare a search with an evaluator; raises MissingToolError `missing-extra`."""
        self._config = config
        self._evaluate = evaluate
        self._hooks = hooks or Hooks()
        self._operators = Operators(config.space, config.plan, len(config.objectives))

    def run(self, state: SearchState) -> SearchState:
        """Continue from `state` until the budgets or the space are exhausted; return the final state. Raises as the evaluator does."""
        self._evolve(state)
        if self._config.plan.baseline:
            self._sample(state)
        state.done = True
        self._hooks.save(state)
        return state

    def _evolve(self, state: SearchState) -> None:
        budget = self._config.plan.budget
        while len(state.evolved) < budget:
            children = self._children(state)[: budget - len(state.evolved)]
            if not children:
                return
            self._evaluate_all(state, "evolution", children, state.evolved)
            candidates = [*state.population, *children]
            state.population = self._operators.select(candidates, self._fitness(state, candidates), self._config.plan.population)
            state.generation += 1
            self._hooks.save(state)

    def _children(self, state: SearchState) -> list[Genome]:
        if not state.population:
            return self._distinct(state.evolution_random, set(), self._config.plan.population, [self._config.space.default])
        if len(state.population) < self._config.plan.population:
            return []  # the space is exhausted
        return self._operators.offspring(
            state.population, self._fitness(state, state.population), set(state.evolved), state.evolution_random
        )

    def _sample(self, state: SearchState) -> None:
        plan = self._config.plan
        while len(state.sampled) < plan.budget:
            first = [] if state.sampled else [self._config.space.default]
            count = min(plan.population, plan.budget - len(state.sampled))
            drawn = self._distinct(state.sampling_random, set(state.sampled), count, first)
            if not drawn:
                return
            self._evaluate_all(state, "random search", drawn, state.sampled)
            self._hooks.save(state)

    def _distinct(self, generator: Random, seen: set[Genome], count: int, first: list[Genome]) -> list[Genome]:
        """Return at most `count` distinct genomes that are not in `seen`; fewer if the space is exhausted."""
        genomes = dict.fromkeys(first)
        for _ in range(_TRIES * count):
            if len(genomes) >= count or len(genomes) + len(seen) >= self._config.space.size:
                break
            genome = self._operators.draw(generator)
            if genome not in seen:
                genomes[genome] = None
        if len(genomes) < count and self._config.space.size <= _TRIES * count:
            every = product(*(range(size) for size in self._config.space.sizes))
            genomes |= dict.fromkeys(
                islice((genome for genome in every if genome not in seen and genome not in genomes), count - len(genomes))
            )
        return list(genomes)[:count]

    def _evaluate_all(self, state: SearchState, search: str, genomes: Sequence[Genome], order: list[Genome]) -> None:
        """Evaluate genomes; the state changes only after all are evaluated, so that saved states are consistent."""
        fresh = [genome for genome in genomes if genome not in state.known]
        outcomes: dict[Genome, GenomeOutcome] = {}
        for genome, outcome in zip(fresh, self._evaluate(fresh), strict=True):
            outcomes[genome] = outcome
            costs = [
                outcome.costs
                for outcome in (*(state.known[seen] for seen in order), *outcomes.values())
                if outcome.status is OutcomeStatus.BOUNDED
            ]
            self._hooks.watch(
                SearchProgress(search, state.generation, len(order) + len(outcomes), self._config.plan.budget, min(costs, default=None))
            )
        state.known.update(outcomes)
        order.extend(genomes)

    def _fitness(self, state: SearchState, genomes: Sequence[Genome]) -> dict[Genome, tuple[float, ...]]:
        return {genome: state.known[genome].fitness(len(self._config.objectives)) for genome in genomes}
