"""The check of control codes is judged: nothing in the compiler's output, and seeded faults (scripts/check_control_codes draws more)."""

import random
from dataclasses import replace
from functools import lru_cache

import pytest

from budget import FULL, some
from samples import names, program
from sassan.ir import Function
from sassan.isa.tables import load
from sassan.timing import hazards, scoreboards
from sassan.timing.scoreboards import check
from soundness.control_faults import KINDS, Fault, faults, found, harmless
from soundness.control_waits import unprotected
from soundness.control_walks import Code, code_of
from soundness.plain_flight import PlainFlight

pytestmark = pytest.mark.slow

ARCHITECTURES = ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
HALF = some(ARCHITECTURES, of=4)
SMALL = ["bfs_step", "double_math", "matmul_tiled", "nbody", "nested_if", "smith_waterman", "spmv_csr", "two_kernels", "warp_vote"]
PER_KIND = 12


@lru_cache(maxsize=len(ARCHITECTURES))
def codes(arch: str) -> tuple[Code, ...]:
    return tuple(code_of(function) for name in SMALL for function in program(arch, name, "cuobjdump").functions)


@lru_cache(maxsize=len(ARCHITECTURES))
def drawn(arch: str, kind: str) -> list[Fault]:
    population = [fault for code in codes(arch) for fault in faults(code, kind)]
    return random.Random(f"control codes {arch} {kind}").sample(population, PER_KIND)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_nothing_is_found_in_what_the_compiler_made(arch: str):
    reports = [
        (function.name, check(function, load(arch).facts, hazards.load(arch)))
        for name in some(names(arch, "cuobjdump"), of=8)
        for function in program(arch, name, "cuobjdump").functions
    ]
    assert [(name, report.findings) for name, report in reports if report.findings] == []
    assert {gap.code for _, report in reports for gap in report.gaps} <= {"indirect-branch", "unknown-callee"}
    assert len(reports) >= (26 if FULL else 6)


@pytest.mark.parametrize("arch", HALF)
def test_walks_reach_no_use_of_an_open_access_in_what_the_compiler_made(arch: str):
    assert [access for code in codes(arch) for access in unprotected(code)] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arch", HALF)
def test_every_fault_that_makes_the_code_wrong_is_found(arch: str, kind: str):
    missed = [str(fault) for fault in drawn(arch, kind) if not found(fault) and not harmless(fault)]
    assert missed == []


@pytest.mark.parametrize("arch", HALF)
def test_most_of_what_is_drawn_makes_the_code_wrong(arch: str):
    right = [fault for kind in KINDS for fault in drawn(arch, kind) if harmless(fault)]
    assert len(right) < PER_KIND


def _scrambled(function: Function, random_: random.Random) -> Function:
    """Return the function with a bit changed in every tenth control code."""
    code = (replace(one, control=(one.control or 0) ^ (random_.random() < 0.1) << random_.randrange(17)) for one in function.instructions)
    return replace(function, instructions=tuple(code))


@pytest.mark.parametrize("arch", some(ARCHITECTURES, of=8))
def test_steps_along_a_block_agree_with_steps_over_states(arch: str, monkeypatch: pytest.MonkeyPatch):
    random_ = random.Random(f"flight {arch}")
    functions = [_scrambled(code.function, random_) for code in codes(arch) for _ in range(2)]
    reports = [check(function, load(arch).facts, hazards.load(arch)) for function in functions]
    monkeypatch.setattr(scoreboards, "Flight", PlainFlight)
    assert [check(function, load(arch).facts, hazards.load(arch)) for function in functions] == reports
    assert sum(len(report.findings) for report in reports) > 50
