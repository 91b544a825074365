from dataclasses import replace

import pytest

from budget import FULL
from evolving import CONFIG, KERNEL, PTX, config_file, copying, need_nvrtc, ptxas
from samples import SAMPLES
from sassan.errors import InputError
from sassan.evolve.evaluate import EvaluationTask, evaluate, evaluate_together, lost_together
from sassan.evolve.outcome import LoopReport, OutcomeStatus, from_json, to_json
from sassan.evolve.run import tools_of
from sassan.evolve.space import config as configurations
from sassan.executor import More
from sassan.machine.parameters import setting

pytestmark = pytest.mark.slow

PTX_CONFIG = """\
[kernel]
source = "saxpy.ptx"
arch = "sm_80"
function = "saxpy"
[launch]
block = [256]
grid = [4]
[[gene]]
flag = "-Xptxas"
values = [false, "-O0", "-O1", "-O2"]
[cost]
objectives = ["wcet", "grid", "instructions", "registers"]
[search]
population = 4
budget = 4
compile_seconds = 60
allow_inexact = true
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def fake(folder, monkeypatch):
    """Return the task of a kernel whose ptxas is a program of ours."""
    ptxas(folder / "bin", copying(SAMPLES / "sm_80" / "saxpy.cubin"))
    monkeypatch.setenv("PATH", str(folder / "bin"))
    config = configurations.read(str(config_file(folder, PTX_CONFIG, PTX, "saxpy.ptx")))
    return EvaluationTask(config, tools_of(config), (0,))


@pytest.fixture
def real(folder):
    """Return the task of a kernel that NVRTC compiles."""
    need_nvrtc()
    config = configurations.read(str(config_file(folder)))
    return EvaluationTask(config, tools_of(config), (0, 0, 0))


def test_all_costs_of_an_individual_are_bounds_of_its_cubin(fake):
    result = evaluate(fake)
    assert result.status is OutcomeStatus.BOUNDED
    assert result.costs == (result.numbers["wcet"], result.numbers["grid"], result.numbers["instructions"], result.numbers["registers"])
    assert result.numbers["instructions"] == 15
    assert "the SM gives shared memory as much of its on-chip memory as it can" in result.assumptions


@pytest.mark.parametrize(
    ("gene", "status", "why"), [(1, OutcomeStatus.FAILED, "ptxas fatal : asked for"), (3, OutcomeStatus.FAILED, "crashed with signal 11")]
)
def test_a_compiler_that_fails_costs_infinity(fake, gene, status, why):
    result = evaluate(replace(fake, genome=(gene,)))
    assert result.status is status
    assert why in result.why
    assert result.fitness(4) == (float("inf"),) * 4


def test_a_parameter_that_the_kernel_lacks_is_refused_and_named(fake):
    odd = replace(fake.config.shape, settings=(*fake.config.shape.settings, setting("param_9=4")))
    result = evaluate(replace(fake, config=replace(fake.config, shape=odd)))
    assert result.status is OutcomeStatus.REFUSED
    assert result.why.startswith("launch.param: parameter param_9=4: no kernel has it; ")
    assert "param_0" in result.why


def test_a_compiler_that_hangs_costs_infinity_and_is_asked_again(fake):
    hasty = replace(fake, genome=(2,), config=replace(fake.config, plan=replace(fake.config.plan, seconds=0.2)))
    assert evaluate(hasty).status is OutcomeStatus.HUNG
    assert not evaluate(hasty).cached


def test_a_refusal_is_remembered(fake):
    task = replace(fake, genome=(1,))
    assert not evaluate(task).cached
    assert evaluate(task).cached
    assert not evaluate(replace(task, cached=False)).cached


def test_a_function_that_is_not_there_is_refused(fake):
    other = replace(fake, config=replace(fake.config, kernel=replace(fake.config.kernel, function="none")))
    assert (evaluate(other).status, evaluate(other).why) == (
        OutcomeStatus.REFUSED,
        "kernel.function: the cubin has no function 'none' (functions: saxpy)",
    )


def test_a_function_that_is_too_large_is_not_analyzed(fake):
    small = replace(fake, config=replace(fake.config, plan=replace(fake.config.plan, largest=10)))
    assert (evaluate(small).status, evaluate(small).why) == (OutcomeStatus.REFUSED, "15 instructions: more than 10 (search.largest)")


def test_the_cubin_of_a_task_is_the_same_from_the_cache(fake):
    first, second = evaluate(fake), evaluate(fake)
    assert first == second
    assert (first.cached, second.cached) == (False, True)


def test_an_outcome_is_the_same_from_json(fake):
    result = evaluate(fake)
    assert from_json(to_json(result)) == result


def test_loops_are_bounded_for_the_parameters_of_the_configuration(real):
    rolled = evaluate(real)
    assert [loop.bound for loop in rolled.loops] == [11]
    unrolled = evaluate(replace(real, genome=(3, 0, 0)))
    assert unrolled.loops == ()
    assert unrolled.costs < rolled.costs


def test_a_loop_without_a_bound_is_a_gap_and_costs_infinity(real):
    result = evaluate(replace(real, genome=(0, 1, 0)))
    assert result.status is OutcomeStatus.GAP
    assert "has no bound" in result.why
    assert result.why.endswith(": set block, grid and param in [launch]")
    assert "--loop-bound" not in result.why
    assert result.loops[-1] == LoopReport(result.loops[-1].head, None, "none")
    assert result.numbers["wcet"] is None
    assert result.fitness(1) == (float("inf"),)


def test_a_compile_error_is_the_reason_of_the_outcome(real):
    result = evaluate(replace(real, genome=(0, 0, 1)))
    assert result.status is OutcomeStatus.FAILED
    assert "asked for" in result.why


def test_a_changed_kernel_is_compiled_anew(real, folder):
    before = evaluate(real)
    config = configurations.read(str(config_file(folder, CONFIG, KERNEL.replace("s * x[i] + k", "s * x[i] - k"))))
    after = evaluate(replace(real, config=config))
    assert before.cubin != after.cubin
    assert not after.cached


def test_a_kernel_whose_header_changed_is_compiled_anew(folder):
    need_nvrtc()
    (folder / "sub").mkdir()
    kernel = KERNEL.replace("k < 12", "k < COUNT")
    costs: list[float] = []
    for count in (4, 12):
        (folder / "sub" / "count.h").write_text(f"#define COUNT {count}\n")
        config = configurations.read(str(config_file(folder, CONFIG, f'#include "sub/count.h"\n{kernel}')))
        result = evaluate(EvaluationTask(config, tools_of(config), (0, 0, 0)))
        assert (result.cached, result.loops[0].bound) == (False, count - 1)
        costs += result.costs
    assert costs[0] < costs[1]


@pytest.mark.usefixtures("folder")
def test_the_shipped_product_of_matrices_has_a_lower_wcet_than_the_compiler_gives_it():
    need_nvrtc()
    config = configurations.read(str(SAMPLES / "evolve" / "matmul.toml"))
    task = EvaluationTask(config, tools_of(config), config.space.default)
    default, other = evaluate(task), evaluate(replace(task, genome=(0, 2, 0, 0)))
    assert str(config.space.choice((0, 2, 0, 0))) == "-DSTRIP=4"
    assert default.status is other.status is OutcomeStatus.BOUNDED
    assert other.numbers["wcet"] * 2 < default.numbers["wcet"]
    assert [loop.source for loop in (*default.loops, *other.loops)] == ["inferred", "inferred"]


def test_genomes_that_are_evaluated_together_have_the_outcomes_that_each_has_alone(real):
    genomes = [(0, 0, 0), (0, 1, 0), *[(3, 0, 0), (0, 0, 1)] * FULL, (0, 0, 0)]
    tasks = tuple(replace(real, genome=genome, cached=False) for genome in genomes)
    alone = {task.genome: evaluate(task) for task in tasks[:-1]}
    assert tuple(evaluate_together(tasks)) == tuple(alone[task.genome] for task in tasks)
    assert evaluate_together(()) == ()


def test_of_genomes_whose_process_died_each_is_tried_alone(fake):
    error = InputError("time-limit", "too slow")
    assert lost_together((fake, fake), error) == More((), ((fake,), (fake,)))
    (outcome,) = lost_together((fake,), error)
    assert (outcome.status, outcome.why) == (OutcomeStatus.REFUSED, "too slow")
