"""`sassan.makespan_of`: the longest makespan of warps with kernel strings."""

import json

import pytest

import sassan

pytestmark = pytest.mark.slow

CASE = {"capacity": {"L": 1, "C": 4}, "issue": 4}


def test_the_longest_makespan_is_proved_with_a_schedule():
    found = sassan.makespan_of("L5C9L2C9", warps=8, **CASE)
    assert (found.exact, found.lower, found.upper, found.warps) == (98, 98, 98, 8)
    assert found.schedule is not None
    assert found.schedule.makespan == 98


def test_the_document_is_that_of_the_command_line(sassan_json):
    document = json.loads(json.dumps(sassan.makespan_of("LCL", warps=4, engine="exact").to_dict()))
    shown = sassan_json("makespan", "LCL", "-W", 4, "--engine", "exact")
    assert document["schedule"] is not None
    alike = ("string", "strings", "warps", "capacities", "issue", "exact", "lower", "upper", "schedule")
    assert {key: document[key] for key in alike} == {key: shown[key] for key in alike}


def test_several_strings_are_taken_in_turn():
    found = sassan.makespan_of(["LC", "CC"], warps=4, engine="exact")
    assert [str(one) for one in found.problem.strings] == ["LC", "C2", "LC", "C2"]
    assert sassan.makespan_of(["LC", "CC"], engine="exact").warps == 2


def test_the_sm_of_an_architecture_has_its_units():
    found = sassan.makespan_of("L2C9", warps=4, arch="sm_61", engine="bounds")
    assert found.processor.issue == 8
    assert found.assumptions[1].startswith("SM of compute capability 6.1")


def test_without_a_schedule_there_is_no_picture():
    found = sassan.makespan_of("L2C9", warps=4, engine="bounds")
    assert (found.lower, found.exact) == (None, None)
    assert found._repr_svg_() is None
    with pytest.raises(sassan.UsageError) as error:
        found.svg()
    assert error.value.code == "no-schedule"


def test_the_picture_is_one_svg():
    picture = sassan.makespan_of("LC", warps=2)._repr_svg_() or ""
    assert picture.startswith("<svg")
    assert "proved the longest" in picture


WRONG = [
    (("L0Q", 2), {}, "string-syntax"),
    (("", 2), {}, "empty-string"),
    (("LC", None), {"engine": "none"}, "unknown-engine"),
    (("LC", 0), {}, "no-warps"),
    (((), None), {}, "no-warps"),
    (("LC", 2.5), {}, "usage"),
    (("LC", True), {}, "usage"),
    ((3,), {}, "usage"),
    (([3], 1), {}, "usage"),
    (("LC", 1), {"seed": 1.5}, "usage"),
    (("LC", 1), {"time_limit": "10"}, "usage"),
    (("LC", 1), {"issue": 1.5}, "usage"),
    (("LC", 1), {"arch": 61}, "usage"),
    (("LC", 1), {"capacity": 3}, "usage"),
    (("LC", 1), {"capacity": {"L": 0}}, "bad-capacity"),
    (("LC", 1), {"capacity": {"Q": 1}}, "bad-units"),
    (("LC", 1), {"latency": {"L": 0}}, "bad-latency"),
]


@pytest.mark.parametrize(("positional", "named", "code"), WRONG)
def test_numbers_that_mean_nothing_are_refused(positional, named, code):
    with pytest.raises(sassan.SassanError) as error:
        sassan.makespan_of(*positional, **named)
    assert error.value.code == code


def test_its_representation_has_strings_warps_and_the_interval():
    assert repr(sassan.makespan_of("LCL", 4)) == "<Makespan of 4 warps 'LCL': 9 slots>"
