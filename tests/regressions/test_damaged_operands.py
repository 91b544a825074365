"""Defects that the fuzzer found in damaged instructions."""

from assembly import instruction
from sassan.isa.tables import load


def test_a_register_without_a_number_has_no_facts_even_after_one_with_a_number():
    table = load("sm_75")
    assert table.facts(instruction("STG.E.SYS [R4], R3")) is not None
    assert table.facts(instruction("STG.E.SYS [R4], R")) is None
