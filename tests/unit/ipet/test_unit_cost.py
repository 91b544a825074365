from sassan.timing import CostModel, UnitCostModel
from unit.ipet.brute import Op, graph


def test_a_block_costs_its_instructions() -> None:
    model: CostModel = UnitCostModel()
    assert model.block_costs(graph([Op("op"), Op("op"), Op("exit")])).costs == (3,)


def test_the_model_says_that_it_counts_instructions() -> None:
    assert UnitCostModel().block_costs(graph([Op("exit")])).assumptions == ("every instruction takes one cycle (unit cost)",)
