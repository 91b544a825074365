"""`--clock`: the clock that the SMs of a product keep."""

from typing import Any

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused

SAXPY = SAMPLES / "sm_80" / "saxpy.cubin"
LAUNCH = ("--gpu", "A100-SXM4-40GB", "--block-dim", "256", "--grid", "4096", "--param", "param_0=1048576")


def answer(sassan: Sassan, command: str, *more: str) -> dict[str, Any]:
    """Return the function of an answer."""
    found: dict[str, Any] = sassan(command, SAXPY, *LAUNCH, *more, "--json").document["functions"][0]
    return found


def test_a_lower_clock_costs_time_and_no_cycles_of_the_sm(sassan: Sassan):
    boost, half = (answer(sassan, "analyze", *more) for more in ((), ("--clock", "705 MHz")))
    assert half["wcet"]["value"] == boost["wcet"]["value"]
    assert boost["grid"]["us"] < half["grid"]["us"] < 2 * boost["grid"]["us"]
    assert half["grid"]["upper"] < boost["grid"]["upper"]  # DRAM moves more in a cycle
    assert "A100-SXM4-40GB: the SMs keep 705 MHz, as given" in half["grid"]["assumptions"]


def test_the_boost_clock_as_given_is_the_answer_without(sassan: Sassan):
    for command, part in (("analyze", "grid"), ("estimate", "estimate")):
        assert answer(sassan, command)[part]["us"] == answer(sassan, command, "--clock", "1.41 GHz")[part]["us"]


def test_memory_is_no_faster_where_the_sms_are(sassan: Sassan):
    boost, faster = (answer(sassan, "analyze", *more) for more in ((), ("--clock", "2000")))
    assert faster["wcet"]["value"] > boost["wcet"]["value"]
    assert 0.85 * boost["grid"]["us"] < faster["grid"]["us"] < boost["grid"]["us"]


def test_the_base_clock_of_a_product(sassan: Sassan):
    base, named = (sassan("estimate", SAXPY, *LAUNCH[2:], "--gpu", "RTX 3080", "--clock", clock, "--json") for clock in ("base", "1440"))
    assert base.document["functions"][0]["estimate"]["us"] == named.document["functions"][0]["estimate"]["us"]


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (("--clock", "base"), "no base clock of A100-SXM4-40GB is known"),
        (("--clock", "fast"), "--clock must be a clock such as 1410 MHz, or base, not 'fast'"),
        (("--clock", "0"), "--clock must be"),
        (("--clock", "1410.5"), "whole MHz"),
        (("--clock", "20 GHz"), "10000 at most"),
    ],
)
def test_what_is_no_clock_is_refused(sassan: Sassan, more: tuple[str, ...], part: str):
    result = sassan("analyze", SAXPY, *LAUNCH, *more)
    assert_refused(result, 2)
    assert part in result.err


def test_a_clock_needs_a_gpu(sassan: Sassan):
    result = sassan("analyze", SAXPY, "--clock", "1410")
    assert_refused(result, 2)
    assert "--clock has no effect without --gpu" in result.err
