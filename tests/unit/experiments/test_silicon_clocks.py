"""The clock at which a tuner's runs took place, told from runs that become faster at once."""

from hypothesis import given
from hypothesis import strategies as st

from sassan.products import find
from sassan.recorded import TuningConfiguration, TuningSpace
from scripted import scripted

clocks = scripted("silicon_clocks")

GPU = find("A100-PCIE-40GB")
SLOW, FAST = GPU.base_clock, GPU.boost_clock
assert SLOW is not None
RATIO = FAST / SLOW
SHORT = (1.0,) * 32
CHANGES = (10.0 * RATIO,) * 16 + (14.0,) + (10.0,) * 15


def space(*runs: tuple[float, ...]) -> TuningSpace:
    configurations = tuple(TuningConfiguration((index,), times_ms=some, place=f"cache.{index}") for index, some in enumerate(runs))
    return TuningSpace("x.json", "kernel-tuner", "scale", None, ("block",), configurations)


def test_short_runs_are_at_base_clock_where_longer_ones_show_the_change():
    many = space(SHORT, SHORT, CHANGES, SHORT, SHORT, SHORT, CHANGES, CHANGES, SHORT)
    assert clocks.clocks(many, GPU) == (SLOW, SLOW, None, None, None, SLOW, None, None, None)


def test_other_changes_are_no_change_of_the_clock():
    halved = tuple(2.0 if index < 16 else 1.0 for index in range(32))
    assert clocks.clocks(space(SHORT, halved, halved, halved, SHORT), GPU) == (FAST,) * 5


def test_of_a_configuration_without_runs_nothing_is_told():
    assert clocks.clocks(space((), SHORT, SHORT), GPU) == (FAST,) * 3


@given(st.lists(st.floats(0.01, 100), min_size=8, max_size=40), st.integers(1, 7))
def test_runs_of_one_clock_show_no_change(times: list[float], spread: int):
    steady = tuple(10 + each % 1 * spread / 10 for each in times)
    assert clocks.clocks(space(*[steady] * 4), GPU) == (FAST,) * 4
