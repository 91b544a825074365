"""Chains of matrix products: who waits for a result, by hand and against a published measurement."""

import pytest

from sassan import api
from sassan.isa.tables import load
from sassan.timing.control import ControlCostModel
from sassan.timing.rates import Tables
from sassan.warpcfg import explore
from scheduled import scheduled

CHAIN = "HMMA.16816.F32 R12, R4, R8, R12 | 15\nNOP | 14\n"
APART = "HMMA.16816.F32 R16, R4, R8, R16 | 8\n"


def cost(text: str, arch: str = "sm_120", **given: int) -> int:
    found = ControlCostModel(Tables(given={"branch": 16, **given})).block_costs(
        explore(scheduled(text + "EXIT | 5", arch), load(arch).facts)
    )
    assert found.gaps == ()
    return sum(found.costs)


def test_a_product_waits_for_the_one_whose_result_it_adds_to():
    assert cost(CHAIN * 3) - cost(CHAIN * 2) == 36


def test_independent_products_wait_for_their_unit_alone():
    pair = "HMMA.16816.F32 R12, R4, R8, R12 | 8\n" + APART
    assert cost(pair * 3) - cost(pair * 2) == 2 * 32


def test_any_reader_of_a_result_waits_and_who_overwrites_it():
    def after(reader: str) -> int:
        return cost("HMMA.16816.F32 R12, R4, R8, RZ | 8\n" + reader)

    assert after("FADD R0, R15, R1 | 4\n") == 36 + 4 + 16
    assert after("FADD R0, R16, R1 | 4\n") == 36
    assert after("MOV R13, R1 | 4\n") == after("FADD R0, R15, R1 | 4\n")
    assert after("NOP | 15\nNOP | 15\nFADD R0, R15, R1 | 4\n") == after("NOP | 15\nNOP | 15\nFADD R0, R16, R1 | 4\n")


def test_a_loop_carries_a_result_into_the_next_iteration():
    text = "again:\nFADD R0, R12, R1 | 4\nHMMA.16816.F32 R12, R4, R8, R20 | 1\n"
    text += "UISETP.NE.AND UP0, UPT, UR4, URZ, UPT | 1\nBRA.U UP0, again | 1\n"
    assert cost(text, "sm_80", tensor=200) > cost(text.replace("R0, R12", "R0, R16"), "sm_80", tensor=200)


def test_a_latency_that_a_user_gives_goes_over_that_of_an_opcode():
    assert cost(CHAIN * 3, tensor=50) - cost(CHAIN * 2, tensor=50) == 50


@pytest.mark.slow
def test_a_chain_takes_no_less_than_it_was_measured_to():
    """florianmattana/sass-king, 13e: 16, 32, 64 products of one warp on an RTX 5070 Ti, between two reads of the clock."""
    program = api.read("samples/chains/sm_120/chains.cubin")
    taken = [api.analyze(program, function=f"clocked_{steps}", model="control")[0].wcet for steps in (16, 32, 64)]
    assert taken[0] >= 872
    assert taken[1] >= 1439
    assert taken[2] >= 2541
    assert taken[1] - taken[0] >= 1439 - 872
    assert taken[2] - taken[1] >= 2541 - 1439
