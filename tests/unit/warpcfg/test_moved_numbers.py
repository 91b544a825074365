"""Numbers that a program moves to uniform registers."""

import pytest

from listing import assemble
from sassan.ir import Memory
from sassan.warpcfg.moved_numbers import moved_number

READER = "UTCHMMA gdesc[UR6], gdesc[UR8], tmem[UR4], tmem[UR24], idesc[UR25], UP0"


@pytest.mark.parametrize(
    ("text", "number", "likely"),
    [
        ("UMOV UR25, 0x10", 16, 16),
        ("UMOV UR25, 0x10\nUMOV UR25, 0x20", 32, 32),
        ("UMOV UR25, 0x10\n@UP1 UMOV UR25, 0x20", None, 32),
        ("UMOV UR25, 0x10\nUIADD3 UR25, UR25, 0x1, URZ", None, None),
        ("UMOV UR25, UR3", None, None),
        ("UMOV UR25, 0x10\n@P0 BRA next\nNOP\nnext:", 16, 16),
        ("UMOV UR25, 0x10\n@P0 BRA next\nUMOV UR25, 0x20\nnext:", None, None),
        ("NOP", None, None),
    ],
)
def test_the_last_move_before_a_reader_counts(text: str, number: int | None, likely: int | None):
    graph = assemble(f"{text}\n{READER}\nEXIT", "sm_100").graph()
    node, reader = next((node, each) for node in graph.nodes for each in node.code if each.opcode == "UTCHMMA")
    shape = reader.operands[4]
    assert isinstance(shape, Memory)
    assert moved_number(graph, node, reader, shape.base[0]) == number
    assert moved_number(graph, node, reader, shape.base[0], likely=True) == likely
