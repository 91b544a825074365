"""Concrete warps run PTX samples with virtual tokens: every step is an edge, every agreement holds, every row of the IPET system too."""

from dataclasses import replace

import pytest

from budget import part, some
from ptx import HEAD, functions, kernel, source
from sassan.errors import SassanError
from sassan.frontend.ptx.read import read_ptx
from sassan.ir import Function, Target
from sassan.isa.ptx import load
from sassan.simt.state import SideOrder
from sassan.warpcfg import explore
from sassan.warpcfg.virtual_tokens import with_joins
from simt import plain_data, uninterpreted
from soundness import generator_ptx, oracles
from soundness.oracles import Plan, Report, inspect
from soundness.ptx_oracle import PREDICATES, EveryInstruction, Ptx, claims

NAMES = [
    "barrier_reduce", "bfs_step", "binary_search", "bitonic_step", "call_early_exit", "calls_nested", "continue_from_inner", "debug_build",
    "discard_lanes", "early_return", "goto_two_heads", "histogram_atomic", "int64_divide", "loop_break_continue", "mandelbrot",
    "nested_divergent_loops", "nested_if", "prefix_sum", "reduce_shuffle", "spin_lock", "spmv_csr", "switch_brx", "switch_loop",
    "trap_guard", "uniform_branches", "voronoi", "warp_match", "warp_vote",
]  # fmt: skip


@pytest.fixture(autouse=True)
def predicates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell the machine which of the oracle's registers are predicates."""
    for module in (uninterpreted, plain_data):
        monkeypatch.setattr(module, "PREDICATES", PREDICATES)
    monkeypatch.setattr(oracles, "name", str)


def look(function: Function, seed: int, runs: int = 24, steps: int = 150) -> Report:
    isa = load(function)
    joined = with_joins(function, isa.facts)
    cfg = claims(explore(function, isa.facts))
    assert cfg.gaps == ()
    plan = Plan(runs, seed, steps=steps, solve=1, order=SideOrder.RANDOM, costs=EveryInstruction())
    report = inspect(joined, cfg, plan, Ptx(joined))
    # Where a `ret` resumes is an edge, and no target of a token.
    return replace(report, findings=tuple(one for one in report.findings if "threads of ret at" not in one.detail))


@pytest.mark.parametrize("name", some(NAMES, of=5))
@pytest.mark.parametrize("arch", ["sm_61", "sm_90"])
def test_no_run_of_a_sample_leaves_its_graph(arch: str, name: str):
    for function in read_ptx(source(f"{arch}/{name}.ptx")):
        if function.kernel:
            report = look(function, seed=1)
            assert [str(one) for one in report.findings] == []
            assert report.claims_checked > 0


@pytest.mark.parametrize("guard", ["%p1", "!%p1"])
def test_no_run_leaves_the_graph_of_a_guarded_call(guard: str):
    device = ".func g()\n{\n.reg .b32 %r<3>;\n.reg .pred %p;\nmov.u32 %r1, %laneid;\nsetp.lt.u32 %p, %r1, 9;\n@%p ret;\nret;\n}\n"
    lines = (
        "mov.u32 %r1, %tid.x;",
        "LOOP: setp.lt.u32 %p1, %r1, 4;",
        f"@{guard} call.uni g;",
        "add.u32 %r1, %r1, 1;",
        "@%p1 bra LOOP;",
        "ret;",
    )
    _, function = functions(kernel(*lines, head=HEAD + device))
    assert [str(one) for one in look(function, 1).findings] == []


@pytest.mark.parametrize("start", range(0, part(120, of=12), 10))
def test_no_run_of_a_random_kernel_leaves_its_graph(start: int):
    for seed in range(start, start + 10):
        (function,) = functions(generator_ptx.program(seed))
        assert (seed, [str(one) for one in look(function, seed, runs=16, steps=80).findings]) == (seed, [])


@pytest.mark.parametrize("wrong", [0x140, 0x1A8])
def test_the_oracle_notices_a_token_that_resumes_elsewhere(wrong: int):
    (function,) = read_ptx(source("sm_61/nested_if.ptx"))
    isa = load(function)
    joined = with_joins(function, isa.facts)
    code = tuple(
        replace(one, operands=(one.operands[0], Target(wrong))) if one.text == "_push join_01b8, 0x01b8" else one
        for one in joined.instructions
    )
    assert code != joined.instructions
    moved = replace(joined, instructions=code)
    report = inspect(moved, claims(explore(function, isa.facts)), Plan(24, 1, steps=150, order=SideOrder.RANDOM), Ptx(moved))
    assert {one.kind for one in report.findings} >= {"edge", "token"}


def test_the_oracle_notices_a_false_agreement():
    (function,) = functions(kernel("mov.u32 %r1, %ctaid.x;", "setp.lt.s32 %p1, %r1, 4;", "@%p1 bra L;", "mov.u32 %r2, 1;", "L: ret;"))
    (other,) = functions(kernel("mov.u32 %r1, %tid.x;", "setp.lt.s32 %p1, %r1, 4;", "@%p1 bra L;", "mov.u32 %r2, 1;", "L: ret;"))
    cfg = claims(explore(function, load(function).facts))
    joined = with_joins(other, load(function).facts)
    report = inspect(joined, cfg, Plan(24, 1, steps=50, order=SideOrder.RANDOM), Ptx(joined))
    assert {one.kind for one in report.findings} >= {"agreement"}


def test_the_oracle_refuses_what_it_does_not_know():
    (function,) = functions(kernel("tanh.approx.f32 %f1, %f2;", "ret;", head=HEAD))
    with pytest.raises(SassanError):
        look(function, seed=1)
