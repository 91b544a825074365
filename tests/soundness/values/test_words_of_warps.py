"""A seeded part of what `scripts/soundness` holds of the words of registers: samples and random programs, with drawn launches."""

import os
from pathlib import Path

import pytest

import cubins
from budget import FULL, part, some
from listing import assemble
from samples import names
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
