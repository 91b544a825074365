"""The decomposition of bounds: its parts add up to the numbers that it explains."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from sassan import frontend, products
from sassan.app.analysis import analyze
from sassan.app.explain import explain
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Resources
from sassan.timing import UnitCostModel
from sassan.timing.control import ControlCostModel, in_order
from sassan.timing.control_ops import op_of
from sassan.timing.control_residuals import NOTHING
from sassan.timing.model import CostModel
from sassan.timing.rates import Tables
from sassan.timing.reasons import AT_BARRIERS, ISSUE, parts
from sassan.timing.table import TableCostModel

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
MODELS = (UnitCostModel(), TableCostModel(), ControlCostModel())


def bounded(sample: str, costs: CostModel, **others: object) -> AnalysisResult:
    path = SAMPLES / f"{sample}.cuobjdump.sass"
    settings = replace(Settings(costs=costs, loop_bound=5, check=False), **others)  # type: ignore[arg-type]  # settings of the caller
    (function,) = frontend.read(frontend.load(str(path))).functions
    return analyze(function, settings)


@pytest.mark.parametrize("sample", ["sm_61/bfs_step", "sm_80/barrier_reduce", "sm_80/nested_divergent_loops", "sm_90/double_math"])
@pytest.mark.parametrize("costs", MODELS, ids=lambda model: model.name)
def test_reasons_and_blocks_add_up_to_the_wcet(sample: str, costs: CostModel):
    result = bounded(sample, costs)
    known = explain(result)
    assert known is not None
    assert sum(cycles for _, cycles in known.reasons) == sum(block.cycles for block in known.blocks) == result.wcet.value
    assert min(cycles for _, cycles in known.reasons) > 0


@pytest.mark.parametrize("sample", ["sm_61/bfs_step", "sm_80/barrier_reduce", "sm_80/nested_divergent_loops"])
def test_the_parts_of_instructions_are_the_time_of_a_block_on_its_own(sample: str):
    result = bounded(sample, ControlCostModel())
    cfg, rates = result.cfg, Tables().rates(result.function.arch)
    for node, own in zip(cfg.nodes, parts(ControlCostModel(), cfg, result.problem.costs, {}), strict=True):
        ops = [op_of(instruction, rates, together=result.function.arch == "sm_61") for instruction in node.code]
        assert sum(part.cycles for part in own if part.address is not None) == in_order(ops, NOTHING)[0]


def test_a_count_of_instructions_is_all_issue_and_a_barrier_is_waited_at():
    counted, timed = explain(bounded("sm_80/barrier_reduce", UnitCostModel())), explain(bounded("sm_80/barrier_reduce", TableCostModel()))
    assert counted is not None
    assert [reason for reason, _ in counted.reasons] == [ISSUE]
    assert timed is not None
    assert {part.reason for part in timed.instructions if part.opcode.startswith("BAR")} == {AT_BARRIERS}


def test_the_terms_are_the_bound_of_the_grid_and_the_accesses_its_memory():
    gpu = products.find("A100-SXM4-40GB")
    resources = Resources(32, 0, gpu.sms)
    result = bounded("sm_80/saxpy", ControlCostModel(), launch=LaunchConfiguration((256, 1, 1), (4000, 1, 1)), gpu=gpu, resources=resources)
    known = explain(result)
    assert known is not None
    assert result.makespan is not None
    assert result.makespan.terms is not None
    total = sum((cycles for _, cycles in known.terms), Fraction(0))
    assert int(total) == result.grid_bound
    memory = result.makespan.terms.memory
    assert memory > 0
    # The costs of blocks are rounded up to a 64th of a cycle.
    assert memory - Fraction(4000 * 8 * len(result.cfg.nodes), 64) <= sum(access.cycles for access in known.accesses) <= memory
