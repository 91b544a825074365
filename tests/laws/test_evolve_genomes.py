"""Laws of genomes: whatever DEAP does with them, they stay in their space, and depend on the random numbers of the search alone."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolving import outcome_of, toy
from sassan.evolve.operators import Operators
from sassan.evolve.space.genes import Gene, GeneKind, GenomeSpace, GenomeValues

pytest.importorskip("deap", reason="the extra 'evolve' is not installed")
GENES = st.one_of(
    st.integers(2, 5).map(lambda count: Gene(GeneKind.MACRO, f"M{count}", tuple(range(count)))),
    st.integers(2, 4).map(lambda count: Gene(GeneKind.FLAG, "--maxrregcount", tuple(range(16, 16 + count)))),
    st.tuples(st.integers(1, 6), st.integers(2, 4)).map(lambda both: Gene(GeneKind.ORDER, "order", (), *both)),
)
SPACES = st.lists(GENES, min_size=1, max_size=4).map(lambda genes: GenomeSpace(tuple(genes)))
SEEDS = st.integers(0, 2**32)


def operators(space: GenomeSpace) -> Operators:
    return Operators(space, toy(space=space).plan, 1)


@given(SPACES, SEEDS)
def test_draws_mutants_and_children_are_genomes_of_the_space(space, seed):
    chance, tools = random.Random(seed), operators(space)
    first, second = tools.draw(chance), tools.draw(chance)
    family = [first, second, tools.mutated(first, chance), *tools.children(first, second, chance)]
    assert all(space.contains(genome) for genome in family)
    assert all(isinstance(space.choice(genome), GenomeValues) for genome in family)


@given(SPACES, SEEDS)
def test_every_place_of_a_child_comes_from_a_parent_unless_it_is_mutated(space, seed):
    chance, tools = random.Random(seed), Operators(space, toy(space=space).plan.__class__(mutation=0.0, crossover=1.0), 1)
    first, second = tools.draw(chance), tools.draw(chance)
    left, right = tools.children(first, second, chance)
    assert all({a, b} == {c, d} for a, b, c, d in zip(left, right, first, second, strict=True))


@given(SPACES, SEEDS)
def test_the_same_numbers_give_the_same_family(space, seed):
    first, second = random.Random(seed), random.Random(seed)
    tools = operators(space)
    random.seed(1)
    drawn = [tools.draw(first), tools.mutated(tools.draw(first), first)]
    random.seed(2)
    assert [tools.draw(second), tools.mutated(tools.draw(second), second)] == drawn
    assert first.getstate() == second.getstate()


@given(SEEDS)
def test_offspring_are_new_and_all_different(seed):
    chance, config = random.Random(seed), toy()
    tools = Operators(config.space, config.plan, 1)
    parents = [tools.draw(chance) for _ in range(40)]
    parents = list(dict.fromkeys(parents))[:8]
    seen = set(parents)
    children = tools.offspring(parents, {parent: outcome_of(parent).fitness(1) for parent in parents}, seen, chance)
    assert len(children) == len(set(children)) == 8
    assert not seen.intersection(children)


@given(SPACES)
def test_the_default_is_a_genome_that_leaves_everything_to_the_compiler(space):
    assert space.contains(space.default)
    assert space.choice(space.default).order == ()
