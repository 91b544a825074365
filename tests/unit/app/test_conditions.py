"""Under which other conditions a baseline was made, on plain results."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from sassan.app.builds.conditions import other
from sassan.app.builds.saved_results import Measure, SavedResult

GIVEN = {"model": "unit", "order": "arch", "loop-bound": "9", "tables": "sha256:1", "bounds": "sha256:7"}
BASE = SavedResult(
    "k", "sm_80", "k.sass", "sha256:1", (10,) * len(Measure), "unit", "optimal", None, "L", (), (), ("a",), version="1", settings=GIVEN
)


def changed(text: str = "sha256:1", **given: str | None) -> SavedResult:
    settings = {**GIVEN, **{name.replace("_", "-"): value for name, value in given.items()}}
    return replace(BASE, text=text, settings={name: value for name, value in settings.items() if value is not None})


def test_the_same_conditions_are_no_other_ones():
    assert other(BASE, BASE) == other(BASE, changed("sha256:2")) == ()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"loop_bound": "5"}, "--loop-bound 9, now 5"),
        ({"loop_bound": None}, "--loop-bound 9, now not given"),
        ({"param": "n=64"}, "--param not given, now n=64"),
        ({"call_depth": "2"}, "--call-depth not given, now 2"),
        ({"warps": "16"}, "-W not given, now 16"),
        ({"tables": "sha256:2"}, "other figures of the architecture"),
        ({"bounds": None}, "flow facts given, now not given"),
    ],
)
@pytest.mark.parametrize("code", ["sha256:1", "sha256:2"])
def test_every_condition_is_compared_whatever_the_code(given: Mapping[str, str | None], text: str, code: str):
    assert other(BASE, changed(code, **given)) == (text,)


def test_flow_facts_are_compared_where_the_code_is_the_same():
    assert other(BASE, changed(bounds="sha256:8")) == ("other flow facts",)
    assert other(BASE, changed("sha256:2", bounds="sha256:8")) == ()


def test_a_baseline_that_tells_no_conditions_is_said():
    assert other(replace(BASE, settings=None), BASE) == ("what it rests on is not recorded: write it again",)


def test_another_version_is_another_condition():
    assert other(replace(BASE, version="0"), BASE) == ("version 0, now 1",)
