"""A share of `scripts/soundness --functions`: every transfer function of loop inference against numbers; wrong ones are noticed."""

from importlib import import_module
from inspect import getmembers, getsource, isfunction

import pytest

from budget import part, some
from sassan.ipet.loop_bounds.evaluate import FUNCTIONS
from soundness.functions import campaign, language, paths
from soundness.functions.campaign import hold_function
from soundness.functions.faults import ARITHMETIC, FAULTS, noticed, wrong
from soundness.values.mutants import MUTANTS, WrongLine

TUPLES = part(1_000_000, of=1000)
EVERY = [name for name in campaign.names() if name.partition(" ")[0] in {"language", "path"}]
"""The effects of the tables have tests of their own (`tests/differential`)."""
BEFORE = WrongLine(
    "bytes of two words taken for the first word",
    "language permute",
    ARITHMETIC,
    "return step.of_range(ranges.add(part, ranges.span(0, ranges.SIZE - modulus, modulus)), a, b)\n    #",
    "part = ranges.add(part, ranges.span(0, ranges.SIZE - modulus, modulus))\n    #",
)


def test_every_function_of_the_language_has_a_case():
    assert language.CASES.keys() - {"operand", "predicate"} == FUNCTIONS.keys() | {*language.OF_OPERANDS}


@pytest.mark.parametrize("module", paths.MODULES.values(), ids=paths.MODULES)
def test_every_function_over_states_has_a_case(module: object):
    public = {
        name for name, each in getmembers(module, isfunction) if name[0] != "_" and each.__module__ == getattr(module, "__name__", "")
    }
    assert public <= paths.CASES.keys() | paths.PARTS


@pytest.mark.parametrize("name", EVERY)
def test_what_a_function_says_is_true_in_every_world(name: str):
    held = hold_function(name, TUPLES, seed=1)
    assert held.tuples >= TUPLES
    assert held.first == ""


@pytest.mark.parametrize("fault", [*FAULTS, *MUTANTS], ids=lambda fault: fault.what)
def test_a_wrong_line_has_one_right_one(fault: WrongLine):
    assert getsource(import_module(fault.module)).count(fault.right) == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", some(FAULTS, of=9), ids=lambda fault: fault.what)
def test_a_wrong_line_is_noticed(fault: WrongLine):
    assert noticed(fault).findings


@pytest.mark.parametrize("name", ["language permute", "sm_61 PRMT"])
def test_bytes_of_two_words_taken_for_one_word_are_noticed(name: str):
    with wrong(BEFORE):
        assert hold_function(name, 100_000, seed=1, first=True).findings
