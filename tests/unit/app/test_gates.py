"""Limits, growth and files of gates, on plain results."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.app.builds import gates
from sassan.app.builds.gates import EXPLAINED, Failure, Gate, GateRule
from sassan.app.builds.growth import Allowed, Growth, growth, unheld
from sassan.app.builds.growth import grown as grown_of
from sassan.app.builds.numbers import growth_text, requested_bounds
from sassan.app.builds.saved_results import Measure, SavedResult
from sassan.app.inputs import matches
from sassan.errors import Gap, InputError, UsageError


def result(wcet: int | None = 100, *, warps: int | None = None, makespan: int | None = None, **others: object) -> SavedResult:
    numbers: dict[Measure, int | None] = {Measure.WCET: wcet, Measure.MAKESPAN: makespan, Measure.INSTRUCTIONS: 10, Measure.DIVERGENT: 2}
    values: dict[str, object] = {
        "name": "k",
        "arch": "sm_80",
        "file": "k.sass",
        "text": "sha256:1",
        "model": "unit",
        "status": "optimal" if wcet is not None else "none",
        "string": None,
        "loops": (),
        "gaps": (),
        "assumptions": (),
    }
    return SavedResult(numbers=tuple(numbers.get(one) for one in Measure), warps=warps, **(values | others))  # type: ignore[arg-type]


def grown(old: SavedResult, new: SavedResult) -> list[Failure]:
    return list(grown_of(old, new, Allowed(), requested_bounds(new)))


GAP = Gap(0x158, "unbounded-loop", "the loop has no bound")


def failed(one: SavedResult, *wanted: Gate) -> list[tuple[GateRule, int | None]]:
    return [(each.rule, each.address) for each in gates.failures(one, wanted)]


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_a_known_number_fails_exactly_above_its_limit(value: int, limit: int):
    assert bool(failed(result(value), Gate(GateRule.MAX_WCET, limit, "--max-wcet"))) == (value > limit)


@given(st.integers(0, 10**12))
def test_an_unknown_number_fails_every_limit(limit: int):
    assert failed(result(None, gaps=(GAP,)), Gate(GateRule.MAX_WCET, limit, "--max-wcet")) == [(GateRule.MAX_WCET, 0x158)]


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**4))
def test_growth_in_percent_is_exact(old: int, new: int, tenths: int):
    allowed = growth(f"{tenths // 10}.{tenths % 10}%")
    assert allowed.allows(old, new) == (1000 * (new - old) <= tenths * old)


@pytest.mark.parametrize(
    ("text", "share", "cycles", "spelled"),
    [("5%", Fraction(1, 20), 0, "5%"), ("2.5%", Fraction(1, 40), 0, "2.5%"), ("0%", Fraction(0), 0, "0%"), ("12", Fraction(0), 12, "12")],
)
def test_growth_is_percent_or_cycles(text: str, share: Fraction, cycles: int, spelled: str):
    assert growth(text) == Growth(share, cycles)
    assert str(growth(text)) == spelled


@pytest.mark.parametrize("text", ["", "%", "-5%", "5 %", "1.5", "1e3", "\u0665%", "9999999999", "5%%"])
def test_what_is_no_growth_is_refused(text: str):
    with pytest.raises(UsageError):
        growth(text)


def test_a_bound_is_required_of_the_makespan_only_where_warps_or_a_block_were_told():
    gate = Gate(GateRule.REQUIRE_BOUNDED, None, "--require-bounded")
    assert failed(result(100), gate) == []
    assert failed(result(100, warps=4), gate) == [(GateRule.REQUIRE_BOUNDED, None)]
    assert failed(result(100, warps=4, makespan=200), gate) == []
    assert failed(result(100, launched=True), gate) == [(GateRule.REQUIRE_BOUNDED, None)]


def test_a_bound_that_was_not_proved_fails_though_there_is_no_gap():
    (failure,) = gates.failures(result(None, status="time-limit"), [Gate(GateRule.MAX_WCET, 5, "--max-wcet")])
    assert "is unknown (the solver ended with 'time-limit')" in failure.message


def test_what_was_not_known_before_is_held_to_nothing():
    assert (grown(result(None), result(500))) == []
    assert (grown(result(None), result(None))) == []


def test_a_makespan_is_compared_for_the_same_warps_only():
    old = result(100, warps=4, makespan=200)
    assert grown(old, result(100)) == []
    assert [one.message for one in grown(old, result(100, warps=4, makespan=201))] == [
        "the makespan of 4 warps (unit model) grew from 200 to 201 (+0.5%); allowed is 0%"
    ]
    other = result(100, warps=8, makespan=300)
    assert grown(old, other) == []
    assert unheld((old,), other) == (Measure.MAKESPAN,)


def test_a_makespan_that_got_lost_fails_where_a_block_was_told():
    (failure,) = grown(result(100, warps=4, makespan=200), result(100, launched=True))
    assert failure.message == "the makespan was 200 and is now unknown (how many warps share an SM is not known)"


def test_the_bound_of_a_grid_is_held_also_where_the_launch_changed():
    old = replace(result(100), numbers=(100, None, 900, *[None] * (len(Measure) - 3)), launched=True, block=128, grid=(10, 1))
    new = replace(old, numbers=(100, None, 901, *[None] * (len(Measure) - 3)))
    assert [one.message for one in grown(old, new)] == [
        "the bound of a grid of 10 blocks (unit model) grew from 900 to 901 (+0.1%); allowed is 0%"
    ]
    larger = replace(new, grid=(11, 1))
    assert [one.message for one in grown(old, larger)] == [
        "the bound of a grid of 11 blocks (unit model) grew from 900 to 901 (+0.1%); allowed is 0%"
    ]
    elsewhere = replace(new, grid=(10, 2))
    assert grown(old, elsewhere) == []
    assert unheld((old,), elsewhere) == (Measure.MAKESPAN, Measure.GRID)


def test_growth_of_numbers_beyond_a_float_has_a_percentage():
    assert growth_text(10**400, 2 * 10**400) == "+100.0%"
    assert growth_text(1000, 969) == "-3.1%"
    assert growth_text(8, 9) == "+12.5%"


def test_growth_from_nothing_has_no_percentage():
    (failure,) = grown(result(0), result(4))
    assert "grew from 0 to 4 (+4)" in failure.message


def test_a_file_keeps_its_order_and_names_its_tables():
    demands = gates.read("g.toml", '[function."a*"]\nmax-wcet = 3\nno-gaps = true\n[function.b]\nmax-registers = 0\n')
    assert [(one.pattern, one.file) for one in demands] == [("a*", "g.toml"), ("b", "g.toml")]
    assert demands[0].gates == (
        Gate(GateRule.MAX_WCET, 3, 'g.toml: function."a*"'),
        Gate(GateRule.NO_GAPS, None, 'g.toml: function."a*"'),
    )


def test_a_name_with_brackets_matches_itself():
    assert matches("k[3]", "k[3]")
    assert matches("k3", "k[3]")
    assert not matches("K3", "k?")


def test_a_misspelt_gate_names_those_that_there_are():
    with pytest.raises(InputError) as refused:
        gates.read("g.toml", "[function.a]\nmax_wcet = 3\n")
    limits = "max-wcet, max-makespan, max-grid-cycles, max-registers, max-divergent, max-waste, max-spills, max-shared, max-local"
    assert f"{limits}, min-occupancy, max-us, max-total-us, max-mix, min-mix, require-bounded, no-gaps" in refused.value.message


def test_every_rule_is_explained():
    assert set(EXPLAINED) == set(GateRule)
