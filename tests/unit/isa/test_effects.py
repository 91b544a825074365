"""The language of effects: what the loader refuses, and what is left of an effect for one instruction."""

import pytest

from assembly import facts, instruction
from sassan.errors import InputError
from sassan.isa.computations import CARRY, ZERO, Apply, Certain, Fixed, Number, Read, Select, Step, StepValue, Write
from sassan.isa.loading import read_table
from sassan.isa.rows import Uniformity

ROW = """
[sources]
book = "a book"
[[op]]
names = ["ADD"]
unit = "alu"
forms = ["q? d s s p?"]
modifiers = ["X", "U32", "LT", "AND"]
source = "book"
"""

REFUSED = [
    ('effect = "d = a +"', '""', "assignments"),
    ('effect = ""', '""', "must not be empty"),
    ('effect = "# nothing"', '""', "expected an assignment"),
    ('effect = "d = a; b"', '""', "assignments"),
    ('effect = "d += a"', '""', "assignments"),
    ('effect = "d = frob(a, b)"', '""', "an operator or a function of the language"),
    ('effect = "d = a / b"', '""', "an operator or a function of the language"),
    ('effect = "d = a.b"', '""', "an operator or a function of the language"),
    ('effect = "d = c"', '""', "an operand of a form"),
    ('effect = "d = q"', '""', "an operand of a form"),
    ('effect = "a = b"', '""', "a destination"),
    ('effect = "d = a < b"', '""', "an operator or a function of the language"),
    ('effect = "d = a if a else b"', '""', "a condition that is known from the instruction"),
    ('effect = "d = p"', '""', "a word for d, not a predicate"),
    ('effect = "q = a"', '""', "a predicate for q, not a word"),
    ('effect = "d = bit(a)"', '""', "a predicate as argument of bit"),
    ('effect = "q = compare(relation, a, b)"', '""', "4 arguments of compare"),
    ('effect = "q, d = a, b, a"', '""', "a value for each target"),
    ('effect = "d = a if p else b; q = p"', '""', "nothing behind a choice at run time"),
    ('effect = "d = a if FROB else b"', '""', "a modifier of the row"),
    ('effect."FROB" = "d = a"', '"FROB"', "modifiers of the row, not 'FROB'"),
]


@pytest.mark.parametrize(("effect", "key", "expected"), REFUSED)
def test_a_text_that_is_no_effect_is_refused_by_file_and_key(effect: str, key: str, expected: str):
    with pytest.raises(InputError) as caught:
        read_table("mine.toml", ROW + effect, {}.get)
    assert caught.value.code == "bad-table"
    assert caught.value.message.startswith("mine.toml: op[0].effect.")
    assert key.strip('"') in caught.value.message
    assert expected in caught.value.message


@pytest.mark.parametrize(
    ("effect", "agree"),
    [
        ("d = a + b", Uniformity.LANEWISE),
        ("d = lane(a)", Uniformity.ALWAYS),
        ("d = constant(a, 0, 4, False)", Uniformity.ADDRESS),
    ],
)
def test_agreement_follows_from_the_effect(effect: str, agree: Uniformity):
    (row,) = read_table("mine.toml", f'{ROW}effect = "{effect}"', {}.get).rows["ADD"]
    assert row.agree is agree


def test_agreement_is_not_given_beside_an_effect():
    with pytest.raises(InputError, match=r"op\[0\]\.agree"):
        read_table("mine.toml", f'{ROW}agree = "never"\neffect = "d = a"', {}.get)


def steps(text: str, arch: str = "sm_80") -> tuple[Step, ...]:
    computes = facts(arch, text).computes
    return () if computes is None else computes.of(instruction(text))


def read(text: str, place: int = 0, operand: int = 0) -> Read:
    return Read(instruction(text).operands[operand], place)


def test_operands_are_put_in_and_what_has_no_destination_is_dropped():
    assert steps("IADD3 R0, R1, 0x4, RZ") == (Write((0,), "d", Apply("add", (Apply("add", (read("MOV R1, R1"), Number(4))), Number(0)))),)


def test_true_and_false_predicates_are_folded():
    assert steps("ISETP.GE.AND P0, PT, R1, 0x5, PT")[-1] == Write((256,), "q", StepValue("x1"))
    assert steps("ISETP.GE.AND P0, PT, R1, 0x5, !PT")[-1] == Write((256,), "q", Certain(value=False))


def test_flags_are_destinations_where_the_operand_says_so():
    targets = [step.targets for step in steps("IADD R0.CC, R1, R2", "sm_61")]
    assert targets == [(0,), (CARRY,), (ZERO,)]


def test_a_selection_writes_each_word_of_a_pair():
    (step,) = steps("SEL.64 R2, R4, R6, P0")
    assert isinstance(step, Select)
    assert step.targets == (2, 3)


def test_an_unlisted_modifier_has_no_effect():
    assert steps("IMAD.LO R0, R1, R2, R3") == ()


def test_an_absent_operand_leaves_the_result_unknown():
    assert steps("IADD3.X R0, R1, R2, R3") == ()


def test_relations_and_signs_are_arguments():
    (compare, write) = steps("ISETP.LT.U32.AND P0, PT, R1, R2, P1")
    assert isinstance(compare, Write)
    assert isinstance(compare.value, Apply)
    assert (compare.value.arguments[0], compare.value.arguments[3]) == (Fixed("LT"), Fixed(value=False))
    assert write.targets == (256,)
