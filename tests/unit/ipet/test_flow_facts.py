import tomllib

import pytest

from sassan.errors import InputError, UsageError
from sassan.ipet.facts.read import read
from sassan.ipet.facts.template import template
from sassan.ipet.flow_facts import bounds_of, check_functions
from sassan.ir import Function
from unit.ipet.brute import Op, graph

CFG = graph([Op("op"), Op("op"), Op("op"), Op("bra", (2,), some=True), Op("bra", (1,), some=True), Op("exit")])
HASH = CFG.function.text_hash


def facts(*loops: str, text: str = HASH, function: str = "brute") -> str:
    tables = "".join(f"[[function.{function}.loop]]\n{loop}\n" for loop in loops)
    return f'[function.{function}]\ntext = "{text}"\n{tables}'


INNER = 'head = "0x0010"\nbound = 5'
OUTER = 'head = "0x0008"\nbound = 3'


def test_each_loop_gets_the_bound_of_its_head() -> None:
    assert bounds_of(CFG, read("f", facts(INNER, OUTER))).of_loop == (3, 5)


def test_the_default_fills_what_facts_leave_open() -> None:
    assert bounds_of(CFG, read("f", facts(INNER)), 7).of_loop == (7, 5)


def test_the_default_is_said_as_an_assumption_with_the_loops_that_it_covers() -> None:
    assert bounds_of(CFG, read("f", facts(INNER)), 7).assumptions == (
        "flow fact: at most 5 back edges per entry (6 iterations of the header) of the loop at 0x0010",
        "--loop-bound: at most 7 back edges per entry (8 iterations of the header) of the loop at 0x0008",
    )


def test_a_loop_that_nothing_bounds_is_a_gap_at_its_head() -> None:
    assert [(gap.code, gap.address) for gap in bounds_of(CFG, read("f", facts(INNER))).gaps] == [("unbounded-loop", 8)]


def test_facts_of_another_function_say_nothing() -> None:
    assert bounds_of(CFG, read("f", facts(INNER, function="other"))).of_loop == (None, None)


def test_a_loop_in_two_call_contexts_has_one_fact_and_one_gap() -> None:
    cfg = graph([Op("cal", (3,)), Op("cal", (3,)), Op("exit"), Op("op"), Op("bra", (3,), some=True), Op("ret")])
    assert (len(cfg.loops), [gap.address for gap in bounds_of(cfg).gaps]) == (2, [24])


def test_the_template_lists_every_loop_without_a_bound() -> None:
    text = template([(CFG, bounds_of(CFG))])
    document = tomllib.loads(text.replace("# bound = ", "bound = 9"))
    assert document["function"]["brute"] == {"text": HASH, "loop": [{"head": "0x0008", "bound": 9}, {"head": "0x0010", "bound": 9}]}


def test_a_template_that_is_filled_in_reads_back() -> None:
    text = template([(CFG, bounds_of(CFG))]).replace("# bound = ", "bound = 9")
    assert bounds_of(CFG, read("f", text)).of_loop == (9, 9)


def test_a_template_quotes_a_hostile_name() -> None:
    function = Function('a"]\n\\x', CFG.function.arch, CFG.function.instructions)
    hostile = graph([Op("op"), Op("bra", (0,), some=True), Op("exit")])
    hostile = type(hostile)(function, hostile.nodes, hostile.edges, hostile.entry, hostile.thread_edges, hostile.loops)
    assert list(tomllib.loads(template([(hostile, bounds_of(hostile))]))["function"]) == ['a"]\n\\x']


def test_a_negative_default_is_a_usage_error() -> None:
    with pytest.raises(UsageError) as caught:
        bounds_of(CFG, None, -1)
    assert caught.value.code == "negative-loop-bound"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[function", "facts-syntax"),
        ("x = 1", "facts-value"),
        ("function = 1", "facts-value"),
        ("[function]\nbrute = 1", "facts-value"),
        ("[function.brute]", "facts-value"),
        ('[function.brute]\ntext = "t"\nloop = 1', "facts-value"),
        ('[function.brute]\ntext = "t"\nloop = [1]', "facts-value"),
        (facts('head = "0x0010"'), "facts-value"),
        (facts('head = "0x0010"\nbound = -1'), "facts-value"),
        (facts('head = "0x0010"\nbound = true'), "facts-value"),
        (facts('head = "0x0010"\nbound = 1.5'), "facts-value"),
        (facts("head = 16\nbound = 1"), "facts-value"),
        (facts('head = "here"\nbound = 1'), "facts-value"),
        (facts('head = "-0x10"\nbound = 1'), "facts-value"),
        (facts('head = "0x0010"\nbound = 1\nmore = 2'), "facts-value"),
        (facts(INNER, INNER), "facts-value"),
    ],
)
def test_a_wrong_facts_file_is_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read("f", text)
    assert caught.value.code == code


def test_facts_for_another_text_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        bounds_of(CFG, read("f", facts(INNER, text="sha256:0")))
    assert caught.value.code == "facts-text-mismatch"


def test_a_fact_about_an_address_without_a_loop_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        bounds_of(CFG, read("f", facts('head = "0x0000"\nbound = 1')))
    assert (caught.value.code, caught.value.hint) == ("facts-unknown-loop", "loop headers: 0x0008, 0x0010")


def test_facts_about_a_function_that_is_not_there_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        check_functions(read("f", facts(INNER, function="other")), [CFG.function])
    assert caught.value.code == "facts-unknown-function"
