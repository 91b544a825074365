"""Which costs of blocks are known where a model has gaps, and what shows that they are not."""

from samples import explored, program
from sassan.app.analysis import analyze
from sassan.app.block_table import rows
from sassan.app.settings import Settings
from sassan.app.views import graph_document, page_sketch
from sassan.errors import Gap
from sassan.timing.measured import read
from sassan.timing.model import BlockCosts

CFG = explored(program("sm_61", "saxpy").functions[0])
FIRST, SECOND = (node.start for node in CFG.nodes)


def test_without_gaps_all_costs_are_known() -> None:
    assert BlockCosts((40, 0)).known(CFG) == (40, 0)


def test_a_block_with_a_gap_has_no_known_cost() -> None:
    # The second block costs at least 7; what its gap takes is not in it.
    assert BlockCosts((40, 7), gaps=(Gap(SECOND, "no-latency", ""),)).known(CFG) == (40, None)


def test_of_a_model_that_stops_at_its_first_gap_no_cost_is_known() -> None:
    assert BlockCosts((0, 0), gaps=(Gap(FIRST, "no-control-codes", ""),)).known(CFG) == (None, None)


def test_an_unknown_cost_is_no_zero_in_tables_drawings_and_pages() -> None:
    name, text = CFG.function.name, CFG.function.text_hash
    measured = read("m.csv", f"function,text,start,cycles\n{name},{text},{FIRST:#x},40\n")
    found = analyze(program("sm_61", "saxpy").functions[0], Settings(costs=measured))
    assert found.wcet.value is None
    assert [row.cost for row in rows(found)] == [40, None]
    assert [node["cost"] for node in graph_document(found)["nodes"]] == [40, None]
    blocks = page_sketch(found).blocks
    assert [block["cost"] for block in blocks] == [40, None]
    assert [[text for kind, text in block["lines"] if kind == "cost"] for block in blocks] == [["cost 40"], []]
