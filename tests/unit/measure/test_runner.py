"""The runner on a simulated device: which runs are taken, in which order, after which delays."""

import pytest

from sassan.errors import InputError, UsageError
from sassan.measure import Clock, MeasureArgument, MeasurePlan, MeasureTask, SampleGroup, groups, measure
from unit.measure.simulated import Simulated

TASK = MeasureTask(b"", "kernel", (2, 1, 1), (32, 1, 1), (MeasureArgument("n", "int", 7), MeasureArgument("x", "pointer", 64)))


def clock(slept: list[float] | None = None) -> Clock:
    return Clock(sleep=slept.append if slept is not None else lambda _: None, today=lambda: "2000-01-01")


def test_the_default_plan_is_one_group_of_twenty_runs_as_in_the_paper():
    result = measure(Simulated(), TASK, clock=clock())
    assert [len(group.seconds) for group in result.groups] == [20]


def test_runs_are_kept_in_their_order():
    assert measure(Simulated(), TASK, MeasurePlan(runs=4), clock()).groups == (SampleGroup(0, (3e-3, 1e-3, 2e-3, 3e-3)),)


def test_what_is_known_is_written_beside_the_runs():
    assert measure(Simulated(), TASK, MeasurePlan(runs=1), clock()).about == {
        "device": "simulated GPU",
        "arch": "sm_90",
        "date": "2000-01-01",
        "kernel": "kernel",
        "launch": "2x1x1 blocks of 32x1x1",
        "clock": "CUDA events",
    }


def test_the_delay_is_waited_before_each_run_and_the_pause_before_each_group():
    slept: list[float] = []
    result = measure(Simulated(), TASK, MeasurePlan(runs=3, groups=2, delays=(0.5,), pause=2.0), clock(slept))
    assert slept == [2.0, 0.5, 0.5, 2.0, 0.5, 0.5]
    assert [(group.delay, group.pause) for group in result.groups] == [(0.5, 2.0), (0.5, 2.0)]


def test_no_delay_sleeps_not_at_all():
    slept: list[float] = []
    measure(Simulated(), TASK, MeasurePlan(runs=3), clock(slept))
    assert slept == []


def test_delays_are_interleaved_so_that_a_drift_affects_all_of_them():
    result = measure(Simulated(), TASK, MeasurePlan(runs=1, groups=2, delays=(0.0, 1.0)), clock())
    assert [group.delay for group in result.groups] == [0.0, 1.0, 0.0, 1.0]
    assert [group.number for group in result.groups] == [0, 1, 2, 3]


def test_a_sweep_loads_the_kernel_with_each_value_and_closes_each():
    device = Simulated()
    result = measure(device, TASK, MeasurePlan(runs=1, size="n", sizes=(10.0, 20.0)), clock())
    assert [task.arguments[0].value for task in device.loaded] == [10.0, 20.0]
    assert [group.size for group in result.groups] == [10.0, 20.0]
    assert device.closed == 2


def test_cycles_of_every_run_are_kept():
    assert measure(Simulated(cycles=47), TASK, MeasurePlan(runs=2), clock()).groups[0].cycles == (47, 47)


def test_a_stop_keeps_the_runs_of_the_group_that_it_cuts_short():
    device = Simulated()
    watch = Clock(sleep=lambda _: None, stop=lambda: device.runs >= 5)
    assert [group.seconds for group in groups(device, TASK, MeasurePlan(runs=3, groups=9), watch)] == [(3e-3, 1e-3, 2e-3), (3e-3, 1e-3)]
    assert device.closed == 1


def test_a_stop_before_the_first_run_gives_nothing():
    assert list(groups(Simulated(), TASK, MeasurePlan(), Clock(stop=lambda: True))) == []


def test_a_failed_launch_keeps_the_groups_before_and_gives_the_memory_back():
    device = Simulated(fails_at=3)
    measured: list[SampleGroup] = []
    with pytest.raises(InputError):
        measured.extend(groups(device, TASK, MeasurePlan(runs=2, groups=3), clock()))
    assert device.closed == 1


def test_a_duration_of_nothing_is_refused():
    with pytest.raises(InputError) as refused:
        measure(Simulated(seconds=(0.0,)), TASK, MeasurePlan(runs=1), clock())
    assert refused.value.code == "bad-samples"


def test_a_sweep_of_a_parameter_that_is_not_there_is_refused():
    with pytest.raises(UsageError) as refused:
        measure(Simulated(), TASK, MeasurePlan(size="m", sizes=(1.0,)), clock())
    assert refused.value.message == "the kernel has no argument 'm' (arguments: n, x)"


@pytest.mark.parametrize(
    "plan",
    [
        {"runs": 0},
        {"groups": 0},
        {"delays": ()},
        {"delays": (-1.0,)},
        {"pause": 1e9},
        {"delays": (float("nan"),)},
        {"size": "n"},
        {"sizes": (1.0,)},
    ],
)
def test_a_plan_that_measures_nothing_is_refused(plan: dict[str, object]):
    with pytest.raises(UsageError) as refused:
        MeasurePlan(**plan)
    assert refused.value.code == "bad-plan"


def test_a_plan_knows_its_groups_and_how_long_it_waits_at_least():
    plan = MeasurePlan(runs=3, groups=2, delays=(0.0, 1.0), pause=5.0, size="n", sizes=(1.0, 2.0))
    assert (plan.steps, plan.waits) == (8, 48.0)


def test_the_threads_of_a_task_are_those_of_all_blocks():
    assert MeasureTask(b"", "k", (2, 3, 1), (4, 5, 6)).threads == 720
