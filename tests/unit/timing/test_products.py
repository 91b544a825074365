"""Chains of matrix products: who waits for a result, by hand and against measurements."""

import csv
from pathlib import Path

import pytest

from sassan import api
from sassan.ipet.sm.shares import of_code
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


MEASURED = Path(__file__).resolve().parents[3] / "samples" / "engines" / "h100.csv"


KINDS = {
    "bf16": "HGMMA.64x{}x16.F32.BF16",
    "f16h": "HGMMA.64x{}x16.F16",
    "tf32": "HGMMA.64x{}x8.F32.TF32",
    "e4m3": "QGMMA.64x{}x32.F32.E4M3.E4M3",
    "s8": "IGMMA.64x{}x32.S8.S8",
}


def measured() -> list[tuple[str, int, str, int, int, float]]:
    """Every measured run: the kind, columns, place of the left matrix, warpgroups, products of each, cycles."""
    with MEASURED.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["name"].startswith("wg_")]
    names = [row["name"].split("_") for row in rows]
    counts = [row["parameter"].split() for row in rows]
    return [
        (kind, int(columns), place, int(count[0]), int(count[2]), float(row["value"]))
        for (_, kind, columns, place), count, row in zip(names, counts, rows, strict=True)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_no_product_of_a_warpgroup_was_measured_to_take_longer_than_it_is_charged(kind: str):
    rates = Tables().rates("sm_90")
    rows = [row for row in measured() if row[0] == kind]
    assert len(rows) >= 18
    for _, columns, place, groups, products, cycles in rows:
        left = "R4, " if place == "rs" else ""
        (product, *_) = scheduled(f"{KINDS[kind].format(columns)} R24, {left}gdesc[UR8], R24 | 5\nEXIT | 5", "sm_90").instructions
        latency = rates.cycles(product.opcode) - rates.interval(product.opcode)
        shared = of_code(rates.machine, [product]).sm_stall * rates.machine.schedulers
        each = rates.occupied(product) if groups == 1 else shared
        assert cycles <= latency + groups * products * each, (columns, place, groups, products)
        assert rates.occupied(product) >= shared


@pytest.mark.parametrize("columns", [64, 128, 256])
def test_a_left_matrix_in_registers_takes_longer_than_one_in_shared_memory(columns: int):
    cycles = {
        place: each
        for kind, wide, place, groups, products, each in measured()
        if (kind, wide, groups, products) == ("bf16", columns, 1, 32)
    }
    assert cycles["rs"] - cycles["ss"] > 100
