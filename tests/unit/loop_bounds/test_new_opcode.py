"""Adding an integer opcode touches its row and the rule of the concrete machine: everything else follows."""

from pathlib import Path

import pytest

from architectures import describe
from assembly import agreement, facts, instruction
from effects import cases, computed
from inferring import bound, counter
from sassan.isa.moves import Add, moves
from sassan.isa.tables import unit
from sassan.simt import integers
from sassan.simt.integer_work import GroupOperation
from sassan.timing.latencies import Latencies

SM = """
generation = "volta"
[sources]
test = "a trial SM"
[code]
isa = "trial"
instruction_bytes = 16
convergence_barriers = true
source = "test"
"""
TABLE = """
base = "volta_turing"
[sources]
test = "a made-up opcode"
[[op]]
names = ["IMADX"]
unit = "fma"
forms = ["d s s s"]
modifiers = ["X"]
source = "test"
effect = "d = a * b + c"
"""
ARCH = "sm_130"
LOOP = counter("ISETP.LT.AND P0, PT, R0, 0x5, PT", step="IMADX R0, R0, 0x1, R3", start="MOV R0, RZ\n MOV R3, 0x1")


def rule(work: GroupOperation) -> None:
    """Compute IMADX on the concrete machine."""
    to, left, right, addend = work.instruction.operands
    work.put(to, work.word(left) * work.word(right) + work.word(addend))


@pytest.fixture(autouse=True)
def trial(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    describe(monkeypatch, tmp_path, SM, ARCH)
    (tmp_path / "opcodes").mkdir()
    (tmp_path / "opcodes" / "trial.toml").write_text(TABLE, "utf-8")


def teach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the concrete machine the rule."""
    monkeypatch.setitem(integers._OPERATIONS, "IMADX", rule)  # type: ignore[arg-type]  # the table of the machine


def test_a_loop_that_counts_with_the_new_opcode_is_bounded(monkeypatch: pytest.MonkeyPatch):
    teach(monkeypatch)
    assert bound(LOOP, ARCH) == 4


def test_its_threads_agree_where_they_agree_on_its_operands():
    assert agreement(ARCH, "IMADX R0, R1, R2, R3") == [("R0", "R1 R2 R3")]


def test_it_has_the_unit_of_its_row_and_the_latency_class_of_the_unit():
    latencies = Latencies(ARCH, {})
    assert (unit(ARCH, "IMADX"), latencies.of("IMADX")) == ("fma", latencies.of("IMAD"))


def test_a_return_address_is_followed_through_it():
    text = "IMADX R2, RZ, R5, R3"
    assert moves(instruction(text), facts(ARCH, text).computes) == (Add(2, 3),)


def test_a_modifier_without_an_effect_makes_its_result_unknown():
    assert facts(ARCH, "IMADX.X R0, R1, R2, R3").computes is None


def test_the_differential_test_covers_it_and_asks_for_a_rule_of_the_machine(monkeypatch: pytest.MonkeyPatch):
    (case,) = [case for case in cases(ARCH) if case.name == "IMADX"]
    assert computed(ARCH, case, 20) == 0
    teach(monkeypatch)
    assert computed(ARCH, case, 20) > 0
