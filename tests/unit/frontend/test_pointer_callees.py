"""Where a call through a pointer may lead: to device functions, never to a subroutine of the compiler."""

import re

from cli.shell import SAMPLES
from sassan.frontend import read
from sassan.ir import Function
from sassan.isa import tables
from sassan.source import Source
from sassan.warpcfg.explore import explore

TEXT = (SAMPLES / "sm_80" / "function_pointer.nvdisasm.sass").read_text()


def named(renamed: str) -> Function:
    """Return the kernel in which the device functions of a pattern have the names of subroutines of the compiler."""
    (function,) = read(Source("k.sass", re.sub(rf"\$function_pointer\$(_Z6op_(?:{renamed})ii)", r"$__internal_0_$\1", TEXT))).functions
    return function


def test_subroutines_of_the_compiler_are_no_targets():
    every, fewer = named("none"), named("div|mix")
    assert every.callees is not None
    assert fewer.callees is not None
    assert (len(every.callees), len(fewer.callees)) == (4, 2)


def test_a_call_that_can_only_lead_to_them_leads_out_of_the_input():
    function = named("add|div|mix|mul")
    assert function.callees is None
    assert "indirect-call" in {gap.code for gap in explore(function, tables.load(function.arch).facts).gaps}
