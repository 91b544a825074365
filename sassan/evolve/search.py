"""The two searches of a run: evolution, and random search with the same budget in the same machinery.

`budget` counts different genomes: one that was met before costs nothing and is not evaluated again. Outcomes are functions of their
genomes and come in the order of the genomes, so that a search depends on its seed alone, whatever runs it on however many processes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from random import Random

from sassan.evolve.config import Config
from sassan.evolve.genes import Genome
from sassan.evolve.operators import Operators
from sassan.evolve.outcome import Fate, Outcome
from sassan.evolve.state import State

Evaluator = Callable[[Sequence[Genome]], Iterable[Outcome]]
"""Outcomes in the order of the genomes."""
_TRIES = 1000


@dataclass(frozen=True, slots=True)
class Step:
    """What a person watches: which search, how many genomes it has evaluated, of how many, and the best costs so far."""

    search: str
    generation: int
    done: int
    budget: int
    best: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Hooks:
    """`keep` is called between generations, with a state that may be saved; `watch` after each outcome."""

    keep: Callable[[State], None] = lambda _: None
    watch: Callable[[Step], None] = lambda _: None


class Search:
    """One run over a configuration."""

    def __init__(self, config: Config, evaluate: Evaluator, hooks: Hooks | None = None) -> None:
        """Take what evaluates; raises MissingToolError `missing-extra`."""
        self._config = config
        self._evaluate = evaluate
        self._hooks = hooks or Hooks()
        self._operators = Operators(config.space, config.plan, len(config.objectives))

    def run(self, state: State) -> State:
        """Return the state when the budgets are used up, or the space; it goes on from where `state` stands. Raises as evaluating does."""
        self._evolve(state)
        if self._config.plan.baseline:
            self._sample(state)
        state.done = True
        self._hooks.keep(state)
        return state

    def _evolve(self, state: State) -> None:
        budget = self._config.plan.budget
        while len(state.evolved) < budget:
            children = self._children(state)[: budget - len(state.evolved)]
            if not children:
                return
            self._look(state, "evolution", children, state.evolved)
            everyone = [*state.population, *children]
            state.population = self._operators.select(everyone, self._fitness(state, everyone), self._config.plan.population)
            state.generation += 1
            self._hooks.keep(state)

    def _children(self, state: State) -> list[Genome]:
        if not state.population:
            return self._distinct(state.chance, set(), self._config.plan.population, [self._config.space.default])
        if len(state.population) < self._config.plan.population:
            return []  # the space held no more
        return self._operators.offspring(state.population, self._fitness(state, state.population), set(state.evolved), state.chance)

    def _sample(self, state: State) -> None:
        plan = self._config.plan
        while len(state.sampled) < plan.budget:
            first = [] if state.sampled else [self._config.space.default]
            count = min(plan.population, plan.budget - len(state.sampled))
            drawn = self._distinct(state.luck, set(state.sampled), count, first)
            if not drawn:
                return
            self._look(state, "random search", drawn, state.sampled)
            self._hooks.keep(state)

    def _distinct(self, chance: Random, seen: set[Genome], count: int, first: list[Genome]) -> list[Genome]:
        """Return at most `count` genomes that are not seen and all different; fewer where the space holds no more."""
        found = dict.fromkeys(first)
        for _ in range(_TRIES * count):
            if len(found) >= count or len(found) + len(seen) >= self._config.space.size:
                break
            genome = self._operators.draw(chance)
            if genome not in seen:
                found[genome] = None
        if len(found) < count and self._config.space.size <= _TRIES * count:
            every = product(*(range(size) for size in self._config.space.sizes))
            found |= dict.fromkeys(islice((one for one in every if one not in seen and one not in found), count - len(found)))
        return list(found)[:count]

    def _look(self, state: State, search: str, genomes: Sequence[Genome], order: list[Genome]) -> None:
        """Evaluate genomes; only when all are known the state changes, so that what is saved is whole."""
        fresh = [one for one in genomes if one not in state.known]
        met: dict[Genome, Outcome] = {}
        for genome, outcome in zip(fresh, self._evaluate(fresh), strict=True):
            met[genome] = outcome
            costs = [one.costs for one in (*(state.known[seen] for seen in order), *met.values()) if one.fate is Fate.BOUNDED]
            self._hooks.watch(Step(search, state.generation, len(order) + len(met), self._config.plan.budget, min(costs, default=None)))
        state.known.update(met)
        order.extend(genomes)

    def _fitness(self, state: State, genomes: Sequence[Genome]) -> dict[Genome, tuple[float, ...]]:
        return {one: state.known[one].fitness(len(self._config.objectives)) for one in genomes}
