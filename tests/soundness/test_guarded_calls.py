"""Calls and returns that some threads take and that lead to several places: the machine, its twins, and the graph agree on them."""

from collections import Counter
from dataclasses import replace

import pytest

from listing import assemble
from sassan.ir import Function
from sassan.isa import tables
from sassan.simt.code import lower
from sassan.simt.machine import Limits, Machine
from sassan.simt.state import SideOrder
from sassan.warpcfg import Options, explore
from simt.plain import PlainRun
from simt.uninterpreted import Uninterpreted, draw
from soundness.campaign import Tally, check
from soundness.generator_volta import program
from soundness.oracles import Plan, inspect
from soundness.volta import Volta

RUNS, STEPS = 200, 100
PREDICATES = "S2R R0, SR_TID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT\n ISETP.GT.AND P1, PT, R0, R3, PT"
RET, RET_INNER = "RET.REL.NODEC R20 `(kernel)", "RET.REL.NODEC R22 `(kernel)"


def call(callee: str, back: int, register: int = 20) -> str:
    return f"MOV R{register}, 0x{back:x}\n MOV R{register + 1}, 0x0\n CALL.REL.NOINC {callee}\n"


TWO_CALLERS = f"{PREDICATES}\n {call('`(f)', 0x60)} {call('`(f)', 0x90)} EXIT\n f():\n NOP\n @P0 {RET}\n {RET}"
OF_TWO_CALLS = f"""
    {PREDICATES}
    {call("`(f)", 0x60)}
    EXIT
    f():
    MOV R22, 0xb0
    MOV R23, 0x0
    @P1 MOV R22, R20
    CALL.REL.NOINC `(g)
    {RET}
    g():
    @P0 {RET_INNER}
    {RET_INNER}
"""
"""Threads with P1 return out of two calls at once."""
POINTER = f"{PREDICATES}\n MOV R20, 0x60\n MOV R21, 0x0\n @P0 CALL.REL.NOINC R4 `(kernel)\n EXIT\n f():\n {RET}\n g():\n {RET}"


def function(text: str, *callees: str) -> Function:
    """Return the function of a listing; its pointers lead to the functions named."""
    code = assemble(text, "sm_75")
    if not callees:
        return code.function
    addresses = tuple(code.labels[name] for name in callees)
    symbols = tuple((address, name) for address, name in code.function.symbols if name in callees)
    return replace(code.function, callees=addresses, symbols=symbols)


CASES = {
    "a return to two callers": (function(TWO_CALLERS), 0),
    "a return out of one call or two": (function(OF_TWO_CALLS), 0),
    "a call of one of two functions": (function(POINTER, "f", "g"), None),
    "a call through a pointer of one function": (function(POINTER, "f"), None),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("order", SideOrder)
def test_every_step_is_an_edge(case: str, order: SideOrder):
    code, depth = CASES[case]
    cfg = explore(code, tables.load(code.arch).facts, Options(call_depth=depth))
    report = inspect(code, cfg, Plan(RUNS, 3, STEPS, order=order, call_depth=depth, solve=4, free=RUNS // 4))
    assert ([str(finding) for finding in report.findings], cfg.gaps, report.ended) == ([], (), RUNS)
    # Merged call strings let a call return behind another one; all else happens, in the order in which sides run.
    assert order is not SideOrder.RANDOM or case == "a return to two callers" or report.edges_seen == report.edges


@pytest.mark.parametrize("case", CASES)
def test_the_plain_machine_takes_the_same_steps(case: str):
    code, runs = lower(CASES[case][0], Volta(CASES[case][0])), draw(1, 40)
    outcome = Machine(code, Uninterpreted(runs), SideOrder.RANDOM, Limits(steps=STEPS)).run(runs.active)
    for run in range(40):
        plain = PlainRun(code, runs, run, order=SideOrder.RANDOM)
        plain.execute(STEPS)
        assert {step: int(n) for step, n in zip(outcome.transitions, outcome.counts[run], strict=True) if n} == Counter(plain.path)


def test_a_guarded_return_under_merged_call_strings_stays_on_the_graph():
    tally = Tally("volta")
    check(program(1007934), Plan(24, 1000000, 200, solve=1), tally, Options(call_depth=0))
    assert ([str(finding) for finding in tally.findings], tally.inspected) == ([], 1)
