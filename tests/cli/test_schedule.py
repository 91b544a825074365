"""`sassan analyze --schedule`: the interval from a schedule of the warps of an SM to their bound, in text, JSON and CSV."""

import csv
import io

import pytest

from budget import some
from cli.shell import Sassan, assert_refused
from samples import SAMPLES

REDUCE = str(SAMPLES / "launches" / "sm_80" / "reduce_block.cubin")
LAUNCH = ("--block-dim", "256", "--param", "param_2=32", "--schedule")


@pytest.mark.parametrize("model", some(["control", "table"]))
def test_the_interval_is_one_thing_in_every_form(sassan: Sassan, model: str) -> None:
    (function,) = sassan("analyze", REDUCE, *LAUNCH, "--model", model, "--json").document["functions"]
    lower, upper = function["makespan"]["lower"], function["makespan"]["upper"]
    assert function["wcet"]["value"] < lower < upper
    assert function["paths"][0]["makespan"]["lower"] == lower
    text = sassan("analyze", REDUCE, *LAUNCH, "--model", model).out
    assert f"{lower}..{upper}" in text
    assert f"a schedule takes {lower} cycles" in text
    (row,) = csv.DictReader(io.StringIO(sassan("analyze", REDUCE, *LAUNCH, "--model", model, "--csv").out))
    assert (row["schedule"], row["makespan"]) == (str(lower), str(upper))


def test_without_it_there_is_no_lower_end(sassan: Sassan) -> None:
    (function,) = sassan("analyze", REDUCE, *LAUNCH[:-1], "--model", "control", "--json").document["functions"]
    assert function["makespan"]["lower"] is None


def test_it_counts_cycles(sassan: Sassan) -> None:
    assert_refused(sassan("analyze", REDUCE, *LAUNCH), 2)


def test_what_has_no_bound_says_why_it_has_no_schedule(sassan: Sassan) -> None:
    result = sassan("analyze", REDUCE, "--block-dim", "256", "--schedule", "--model", "control")
    assert "no schedule: there is no bound of the warps" in result.out
