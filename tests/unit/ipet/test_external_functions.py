"""Functions that the input does not hold: a gap with its remedy, and what the facts about them mean."""

import pytest

from listing import assemble
from sassan.app.analysis import analyze
from sassan.app.settings import Settings
from sassan.errors import Gap, InputError
from sassan.ipet.facts.model import FlowFacts
from sassan.ipet.facts.read import read
from sassan.ipet.facts.template import template
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.wcet import Wcet, problem, wcet
from sassan.timing import UnitCostModel

CALL = "@P0 BRA skip\n CAL `(vprintf)\n skip:\n EXIT"
"""BRA, then CAL, then EXIT: a warp that diverges runs EXIT twice."""


def bound(text: str, facts: str) -> Wcet:
    cfg = assemble(text).graph()
    return wcet(problem(cfg, UnitCostModel(), bounds_of(cfg, read("f", facts))))


def test_without_a_fact_it_is_a_gap_that_names_its_remedy():
    cfg = assemble(CALL).graph()
    assert bounds_of(cfg).gaps == (
        Gap(
            0x10,
            "external-function",
            "the input does not contain vprintf, which is called here: "
            'give its cost in a --bounds file: [external.vprintf] cost = N, or calls = "never"',
        ),
    )


def test_a_bound_for_every_loop_is_none_for_a_call():
    cfg = assemble(CALL).graph()
    assert [gap.code for gap in bounds_of(cfg, default=7).gaps] == ["external-function"]


def test_its_cost_is_paid_at_every_call():
    assert bound(CALL, "[external.vprintf]\ncost = 0").value == 4
    assert bound(CALL, "[external.vprintf]\ncost = 500").value == 504


def test_a_call_that_is_never_made_ends_no_path():
    found = bound(CALL, '[external.vprintf]\ncalls = "never"')
    assert (found.value, found.assumptions[-1]) == (2, "flow fact: vprintf is never called")


def test_a_call_that_cannot_be_avoided_is_made():
    found = bound("CAL `(vprintf)\n EXIT", '[external.vprintf]\ncalls = "never"')
    assert [gap.code for gap in found.gaps] == ["contradictory-facts"]


def test_the_cost_is_an_assumption():
    assert (
        "flow fact: a call of vprintf takes at most 9 cycles, including all that it leaves pending"
        in bound(CALL, "[external.vprintf]\ncost = 9").assumptions
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("external = 3", "f: external: must be a table"),
        ("[external]\nf = 3", "f: external.f: must be a table"),
        ("[external.f]", 'f: external.f: must hold either cost = N or calls = "never"'),
        ('[external.f]\ncost = 1\ncalls = "never"', 'f: external.f: must hold either cost = N or calls = "never"'),
        ("[external.f]\ncost = -1", "f: external.f.cost: must be a whole number from 0 to 1000000000000, not -1"),
        ("[external.f]\ncost = true", "f: external.f.cost: must be a whole number from 0 to 1000000000000, not True"),
        ("[external.f]\ncost = 10000000000000", "from 0 to 1000000000000, not 10000000000000"),
        ('[external.f]\ncalls = "sometimes"', "f: external.f.calls: must be one of never, not 'sometimes'"),
        ("[external.f]\nprice = 1", "f: external.f.price: unknown key (known: cost, calls)"),
    ],
)
def test_a_fact_that_means_nothing_is_refused(text: str, why: str):
    with pytest.raises(InputError) as caught:
        read("f", text)
    assert caught.value.code == "facts-value"
    assert why in caught.value.message


def test_the_template_asks_for_each_function_once():
    cfg = assemble("CAL `(vprintf)\n CAL `(vprintf)\n EXIT").graph()
    text = template([(cfg, bounds_of(cfg))])
    assert text.count("[external.") == 1
    assert '[external."vprintf"]\n# cost = \n# calls = "never"\n' in text
    assert template([(cfg, bounds_of(cfg, read("f", text.replace("# cost = ", "cost = 5"))))]).count("external") == 0


def test_of_many_warps_nothing_is_said():
    function = assemble(CALL).function
    facts = FlowFacts("f", (), (("vprintf", 5),))
    found = analyze(function, Settings(facts=facts, warps=8))
    assert found.wcet.value == 9
    assert found.makespan is not None
    assert (found.makespan.bound.value, [gap.code for gap in found.makespan.gaps]) == (None, ["external-contention"])


def test_what_a_call_may_have_written_bounds_no_loop():
    text = "MOV R0, RZ\n MOV R1, RZ\n loop:\n {} IADD32I R0, R0, 0x1\n ISETP.LT.AND P0, PT, R0, 0x8, PT\n @P0 BRA loop\n EXIT"
    plain, called = (assemble(text.format(call)) for call in ("", "CAL `(vprintf)\n "))
    facts = FlowFacts("f", (), (("vprintf", 5),))
    assert analyze(plain.function, Settings(facts=facts)).bounds.of_loop == (7,)
    assert analyze(called.function, Settings(facts=facts)).bounds.of_loop == (None,)
