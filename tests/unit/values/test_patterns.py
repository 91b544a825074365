"""Effects that are translated once for many instructions, and outcomes that are kept, are those of an instruction by itself."""

from random import Random

import pytest

from budget import FULL
from listing import assemble
from samples import program
from sassan.domains.bits import bits
from sassan.domains.lanes import LANES, LaneWord, const, from_words
from sassan.ir import Function, Instruction
from sassan.isa import tables
from sassan.isa.facts import Facts
from sassan.isa.registers import span
from sassan.machine.launch import LaunchConfiguration
from sassan.values.divisions import Divisions
from sassan.values.environment import LaunchEnvironment
from sassan.values.evaluate import Evaluator, Words
from soundness.values.programs import NEW, OLD
from soundness.values.programs import program as drawn_program

LANE = from_words(tuple(range(LANES)))
HELD = (const(3), const(1), LANE, LANE._replace(modulus=32), LaneWord(0, 1 << 32, None, base="x"), LaneWord(high=99))
NAMED = span("R", 0, 64) | span("UR", 0, 32) | span("P", 0, 7) | span("UP", 0, 7)


def drawn(dice: Random) -> dict[int, LaneWord]:
    """Return words of some registers, by bit number."""
    return {name: dice.choice(HELD) for name in bits(NAMED)}


def evaluator(function: Function, facts: dict[int, Facts]) -> Evaluator:
    return Evaluator(LaunchEnvironment(function, LaunchConfiguration((32, 2, 1), (4, 1, 1))), facts, facts, Divisions({}, {}))


def run(evaluate: Evaluator, held: dict[int, LaneWord], instruction: Instruction) -> tuple[object, ...]:
    """Return the words behind an instruction, and what it does to agreement."""
    words = Words(held)
    outcome = evaluate.run(words, instruction)
    again = Words(words.held)
    assert (words.known, words.laned) == (again.known, again.laned)
    return words.held, outcome


def changed(held: dict[int, LaneWord], registers: int, dice: Random) -> dict[int, LaneWord]:
    """Return words of which these registers hold something else, or nothing that is known."""
    kept = {name: value for name, value in held.items() if not registers >> name & 1}
    return kept | dict.fromkeys(bits(registers & NAMED), dice.choice(HELD)) if dice.getrandbits(1) else kept


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [*(program(arch, "medium_500").functions[0] for arch in ("sm_61", "sm_120") * FULL), *(drawn_program(arch, 1) for arch in (OLD, NEW))],
    ids=lambda function: f"{function.arch} {function.name}",
)
def test_an_instruction_does_the_same_whatever_ran_before(function: Function):
    found = {each.address: tables.load(function.arch).facts(each) for each in function.instructions}
    facts = {address: known for address, known in found.items() if known is not None}
    common, dice = evaluator(function, facts), Random(function.name)
    held = drawn(dice)
    for each in function.instructions * 2:
        assert run(common, held, each) == run(evaluator(function, facts), held, each), each.text
        for registers in (facts[each.address].writes, facts[each.address].writes, facts[each.address].reads):
            held = changed(held, registers, dice)
            assert run(common, held, each) == run(evaluator(function, facts), held, each), each.text


ZEROS = ("HFMA2.MMA R4, -RZ, RZ, 0, 0", "HFMA2.MMA R5, -RZ, RZ, 0, -0")


@pytest.mark.parametrize("texts", [ZEROS, ZEROS[::-1]])
def test_a_negative_zero_is_no_zero(texts: tuple[str, ...]):
    function = assemble("\n".join((*texts, "EXIT")), "sm_80").function
    facts = {each.address: known for each in function.instructions if (known := tables.load(function.arch).facts(each)) is not None}
    common, words = evaluator(function, facts), Words({})
    for each in function.instructions[:2]:
        common.run(words, each)
        alone = Words({})
        evaluator(function, facts).run(alone, each)
        for name in bits(facts[each.address].writes):
            assert words.held.get(name) == alone.held.get(name), each.text
