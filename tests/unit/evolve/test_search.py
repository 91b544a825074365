import json
import random

import pytest

from evolving import TOY, CountingEvaluator, outcome_of, toy
from sassan.errors import UsageError
from sassan.evolve import state
from sassan.evolve.compilation.compilers import InstalledCompiler, Tools
from sassan.evolve.outcome import GenomeOutcome, OutcomeStatus, to_json
from sassan.evolve.plot import convergence
from sassan.evolve.result import search_result
from sassan.evolve.run import Runner, toolchain_hash
from sassan.evolve.search import GenomeSearch, Hooks, SearchProgress
from sassan.evolve.space.genes import Gene, GeneKind, GenomeSpace
from sassan.evolve.state import initial_state
from sassan.executor import Serial

pytestmark = pytest.mark.slow

pytest.importorskip("deap", reason="the extra 'evolve' is not installed")
TINY = GenomeSpace((Gene(GeneKind.MACRO, "A", (0, 1, 2)), Gene(GeneKind.MACRO, "B", (0, 1))))


def searched(config, objectives: int = 1):
    return GenomeSearch(config, CountingEvaluator(objectives)).run(initial_state(config.plan.seed))


def test_the_budget_counts_different_genomes_and_nothing_is_evaluated_twice():
    config, prices = toy(), CountingEvaluator()
    result = GenomeSearch(config, prices).run(initial_state(3))
    assert len(result.evolved) == len(set(result.evolved)) == 40
    assert len(result.sampled) == len(set(result.sampled)) == 40
    assert len(prices.asked) == len(set(prices.asked)) == len(result.known)


def test_both_searches_begin_with_the_default():
    result = searched(toy())
    assert result.evolved[0] == result.sampled[0] == TOY.default


def test_evolution_finds_the_least_cost():
    assert search_result(toy(budget=200), searched(toy(budget=200))).best.outcome.costs == (54.0,)


def test_infinite_costs_are_counted_and_stop_nothing():
    result = search_result(toy(budget=200), searched(toy(budget=200)))
    assert sum(result.status_counts.values()) == 200
    assert all(result.status_counts[fate] > 0 for fate in ("failed", "hung", "gap", "bounded"))
    assert result.best.outcome.costs == (54.0,)


def test_where_every_individual_fails_there_is_no_best():
    config = toy(space=GenomeSpace((Gene(GeneKind.MACRO, "A", (5, 6)),)), population=4)

    def nothing(genomes):
        return [outcome_of((5, 0, 0)) for _ in genomes]

    result = search_result(config, GenomeSearch(config, nothing).run(initial_state(1)))
    assert (result.best, result.front, result.status_counts["failed"]) == (None, (), 2)
    pytest.importorskip("matplotlib", reason="the extra 'plots' is not installed")
    assert convergence(config, result).render("svg").startswith(b"<?xml")  # it has nothing to name in a legend, and warns of nothing


def test_a_space_smaller_than_the_budget_is_searched_whole():
    result = searched(toy(space=TINY, population=4))
    assert len(result.evolved) == len(result.sampled) == 6
    assert result.done


def test_the_same_seed_gives_the_same_search_and_another_another():
    first, second, third = searched(toy(seed=1)), searched(toy(seed=1)), searched(toy(seed=2))
    assert first.evolved == second.evolved != third.evolved
    assert first.sampled == second.sampled != third.sampled


def test_a_search_leaves_the_module_random_alone():
    random.seed(5)
    before = random.getstate()
    searched(toy())
    assert random.getstate() == before


def test_the_front_holds_what_nothing_dominates_best_first():
    config = toy(objectives=2, budget=300)
    front = search_result(config, searched(config, 2)).front
    costs = [individual.outcome.costs for individual in front]
    assert costs == sorted(costs)
    assert not any(a != b and a[0] <= b[0] and a[1] <= b[1] for a in costs for b in costs)
    assert costs[0][0] == 54.0
    assert costs[-1] == (100.0, 10.0)


def test_the_curve_never_rises():
    result = search_result(toy(), searched(toy()))
    for points in result.curves.values():
        values = [point[0] for point in points]
        assert values == sorted(values, reverse=True)
        assert len(values) == 40


def test_each_outcome_is_shown_with_the_best_so_far():
    steps: list[SearchProgress] = []
    config = toy()
    GenomeSearch(config, CountingEvaluator(), Hooks(watch=steps.append)).run(initial_state(3))
    assert [step.done for step in steps if step.search == "evolution"] == list(range(1, 41))
    assert steps[0].best == (100.0,)
    assert steps[-1].budget == 40


@pytest.mark.parametrize("objectives", [1, 2])
def test_a_search_interrupted_anywhere_ends_as_if_it_had_not_been(tmp_path, objectives):
    config = toy(objectives, budget=24)
    whole = searched(config, objectives)
    hooks = Hooks(save=lambda now: state.save(now, config, tmp_path))
    for stop in range(1, len(whole.known) + 1, 3):
        (tmp_path / state.FILE).unlink(missing_ok=True)
        fresh = initial_state(config.plan.seed)
        state.save(fresh, config, tmp_path)
        with pytest.raises(KeyboardInterrupt):
            GenomeSearch(config, CountingEvaluator(objectives, interrupted=stop), hooks).run(fresh)
        resumed = state.load(config, tmp_path)
        assert resumed is not None
        result = GenomeSearch(config, CountingEvaluator(objectives), hooks).run(resumed)
        assert (result.evolved, result.sampled, result.known, result.population) == (
            whole.evolved,
            whole.sampled,
            whole.known,
            whole.population,
        )
        assert search_result(config, result) == search_result(config, whole)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 1}', '{"format": 7, "config": ""}', "[" * 100_000])
def test_a_damaged_state_is_refused(tmp_path, damage):
    (tmp_path / state.FILE).write_text(damage)
    with pytest.raises(UsageError) as caught:
        state.load(toy(), tmp_path)
    assert caught.value.code == "bad-state"


@pytest.mark.parametrize("genome", [[], [0], [0, -1], [0, 2], [3, 0], [0, 0, 0]])
def test_a_genome_that_is_none_of_the_space_is_refused(tmp_path, genome):
    config = toy(space=TINY)
    state.save(initial_state(1), config, tmp_path)
    path = tmp_path / state.FILE
    bounded = {"genome": genome, "outcome": to_json(GenomeOutcome(OutcomeStatus.BOUNDED, (1.0,)))}
    path.write_text(json.dumps({**json.loads(path.read_text()), "known": [bounded], "evolved": [genome]}))
    with pytest.raises(UsageError, match="is damaged"):
        state.load(config, tmp_path)


def test_a_genome_that_was_not_evaluated_is_refused(tmp_path):
    config = toy()
    state.save(initial_state(1), config, tmp_path)
    path = tmp_path / state.FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "evolved": [[0, 0]]}))
    with pytest.raises(UsageError, match="is damaged"):
        state.load(config, tmp_path)


def test_the_state_of_another_seed_is_refused(tmp_path):
    state.save(initial_state(1), toy(seed=1), tmp_path)
    with pytest.raises(UsageError, match="another configuration, kernel, seed or budget"):
        state.load(toy(seed=2), tmp_path)


def test_the_state_of_other_compilers_is_refused(tmp_path):
    before, after = InstalledCompiler("ptxas", "12.9", "ptxas 12.9 1"), InstalledCompiler("ptxas", "12.9", "ptxas 12.9 2")
    first, second = (toolchain_hash(Runner(toy(), Tools(ptxas=compiler), Serial())) for compiler in (before, after))
    state.save(initial_state(1), toy(), tmp_path, first)
    assert state.load(toy(), tmp_path, first) is not None
    with pytest.raises(UsageError, match="another sassan, other compilers") as caught:
        state.load(toy(), tmp_path, second)
    assert caught.value.code == "bad-state"


def test_the_state_of_another_sassan_is_refused(tmp_path, monkeypatch):
    runner = Runner(toy(), Tools(), Serial())
    state.save(initial_state(1), toy(), tmp_path, toolchain_hash(runner))
    monkeypatch.setattr("sassan.evolve.run.program", lambda: "another")
    with pytest.raises(UsageError, match="another sassan, other compilers"):
        state.load(toy(), tmp_path, toolchain_hash(runner))


def test_an_outcome_is_written_in_one_order():
    numbers = {"wcet": 1, "grid": 2, "instructions": 3}
    first, second = (GenomeOutcome(OutcomeStatus.BOUNDED, (1.0,), order) for order in (numbers, dict(reversed(numbers.items()))))
    assert json.dumps(to_json(first)) == json.dumps(to_json(second))


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as caught:
        state.save(initial_state(1), toy(), tmp_path / "file")
    assert caught.value.code == "cannot-write"
