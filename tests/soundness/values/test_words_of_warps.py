"""A seeded part of what `scripts/soundness` holds of the words of registers: samples and random programs, with drawn launches."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

import cubins
from budget import FULL, part, some
from listing import assemble
from samples import names
from sassan.isa.stack import StackMove
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.stack_words import stack_words
from soundness.campaign import ARCHS, Task
from soundness.values.campaign import GROUP, PROGRAM_RUNS, carry_out_words, shipped
from soundness.values.programs import DIVIDED, MET, NEW, OLD, REWRITTEN, program
from soundness.values.runs import WordPlan, inspect_words

LARGE = "large_5000"


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    return cubins.recorder(folder, *(f"{arch}/{name}" for arch in ARCHS for name in names(arch) if name != LARGE))


@pytest.fixture(autouse=True)
def disassembler(monkeypatch: pytest.MonkeyPatch, tools: Path) -> None:
    """Put a disassembler that plays back the recorded listings on PATH: no installed one reads every architecture."""
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setenv("SASSAN_CACHE", str(tools / "cache"))


IN_TURN = some([(ARCHS[index % len(ARCHS)], name) for index, name in enumerate(names("sm_70")) if name != LARGE], of=27)
"""Each sample for one architecture, in a quick run a ninth of them; `scripts/soundness` looks at all of them."""
STEPS = 300
COUNT = 10 if FULL else 4
"""Programs of a task."""
LAUNCHES = part(3, of=2)


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "name"), [*((arch, "warp_roles") for arch in some(ARCHS, of=9)), *IN_TURN])
def test_threads_of_a_sample_hold_what_is_said_of_registers(arch: str, name: str):
    tally = carry_out_words(Task(f"{GROUP}{arch}/{name}", 0, len(shipped(arch, name)), PROGRAM_RUNS, len(name), STEPS))
    assert [str(finding) for finding in tally.findings] == []
    assert tally.claims or tally.skipped


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, part(240, of=16), 10))
@pytest.mark.parametrize("arch", [OLD, NEW])
def test_threads_of_a_random_program_hold_what_is_said_of_registers(arch: str, start: int):
    tally = carry_out_words(Task(f"{GROUP}of programs/{arch}", start, start + COUNT, PROGRAM_RUNS, 1, STEPS))
    assert ([str(finding) for finding in tally.findings], tally.skipped, tally.inspected) == ([], [], COUNT)


@pytest.mark.slow
@pytest.mark.parametrize("arch", [OLD, NEW])
def test_threads_of_one_warp_hold_what_is_said_of_it(arch: str):
    reports = [inspect_words(program(arch, seed), WordPlan(seed, LAUNCHES, 4, STEPS, of_one_warp=True)) for seed in range(part(200, of=32))]
    held = [report for report in reports if not isinstance(report, str)]
    assert [str(finding) for report in held for finding in report.findings] == []
    assert sum(report.claims_checked for report in held)


@pytest.mark.parametrize(
    "text",
    [DIVIDED, REWRITTEN, MET],
    ids=["a register of the warp that the other side writes", "a guard written anew", "lanes that meet again"],
)
def test_threads_of_a_written_program_hold_what_is_said_of_registers(text: str):
    report = inspect_words(assemble(text, NEW).function, WordPlan(seed=1, warps=16))
    assert not isinstance(report, str)
    assert [str(finding) for finding in report.findings] == []


SPILLS = """
    MOV R1, c[0x0][0x28]
    IADD3 R1, R1, -0x40, RZ
    S2R R4, SR_CTAID.X
    S2R R8, SR_TID.X
    ISETP.LT.U32.AND P1, PT, R8, R4, PT
    MOV R5, R4
    MOV R6, R8
    MOV R7, 0x5
    STL.128 [R1+0x10], R4
    STL [R1+0x8], R7
    {between}
    LDL.64 R2, [R1+0x10]
    LDL R9, [R1+0x18]
    LDL R10, [R1+0x8]
    ISETP.LT.U32.AND P0, PT, R2, 0x4, PT
    @P0 BRA few
    IADD3 R10, R10, R9, RZ
few:
    EXIT
"""
BETWEEN = (
    "NOP",
    "@P1 STL [R1+0x14], R8",
    "STL.64 [R1+0x14], R8",
    "STL.U8 [R1+0x19], RZ",
    "IADD3 R11, R1, R8, RZ\n STL [R11], R8",
    "IADD3 R11, R1, 0x8, RZ\n @P1 IADD3 R11, R11, 0x8, RZ\n STL [R11], R4",
)


@pytest.mark.parametrize("between", BETWEEN)
def test_threads_hold_what_is_said_of_words_of_their_stacks(between: str):
    function = assemble(SPILLS.format(between=between), "sm_80").function
    reports = [inspect_words(function, WordPlan(seed, LAUNCHES, 4, STEPS, of_one_warp=seed % 2 == 1)) for seed in range(6)]
    assert all(not isinstance(report, str) and report.findings == () and report.claims_checked for report in reports)


def test_words_that_other_stores_do_not_spoil_are_noticed(monkeypatch: pytest.MonkeyPatch):
    def forgetful(cfg: WarpCfg, facts_of: FactsOf) -> Mapping[int, StackMove]:
        return {address: move for address, move in stack_words(cfg, facts_of).items() if not move.spoiled}

    monkeypatch.setattr("soundness.values.runs.stack_words", forgetful)
    function = assemble(SPILLS.format(between=BETWEEN[-1]), "sm_80").function
    found = [inspect_words(function, WordPlan(seed, LAUNCHES, 4, STEPS)) for seed in range(6)]
    assert any(not isinstance(report, str) and report.findings for report in found)
