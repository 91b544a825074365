"""Recorded launches beside what the pipeline says of them."""

from dataclasses import replace

import pytest

from samples import program
from sassan.app.settings import Settings
from sassan.launches import Argument, Launches, ProgramLaunch
from sassan.machine.occupancy import Resources
from sassan.recorded import RecordedDevice, RecordedLaunch
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.validation.launches import Hardware, LaunchValidation, summary, validate

SAXPY = program("sm_80", "saxpy", "cuobjdump").functions
LOOP = program("sm_80", "mandelbrot", "cuobjdump").functions
GPU = RecordedDevice("a GPU", (8, 0), 108, 1.41e9)
LAUNCH = RecordedLaunch("saxpy", grid=(1024, 1, 1), block=(256, 1, 1), cycles=1e3, device=GPU)
SETTINGS = Settings(costs=models.model("control", Tables()), resources=Resources(registers=16, shared=0))


def validated(
    launch: RecordedLaunch, functions=SAXPY, hardware: Hardware | None = None, arguments: Launches | None = None
) -> LaunchValidation:
    (validation,) = validate([launch], {None: functions}, SETTINGS, hardware or Hardware(), arguments)
    return validation


def test_a_bound_above_the_measurement_is_not_refuted():
    validation = validated(LAUNCH)
    assert validation.bound is not None
    assert (validation.gaps, validation.cycles, validation.ratio, validation.refuted) == ((), 1e3, validation.bound / 1e3, False)


def test_a_bound_below_the_measurement_is_refuted():
    assert validated(replace(LAUNCH, cycles=1e9)).refuted


def test_an_execution_that_the_graph_does_not_allow_is_refuted():
    assert validated(replace(LAUNCH, counts={0: 1024 * 8 + 1})).refuted
    assert not validated(replace(LAUNCH, counts={0: 1024 * 8})).refuted


def test_a_time_becomes_cycles_by_the_clock():
    timed = replace(LAUNCH, cycles=None, time_ns=1000.0)
    assert validated(timed).cycles == pytest.approx(1410)
    assert validated(timed, hardware=Hardware(clock_hz=2e9)).cycles == pytest.approx(2000)


def test_cycles_and_time_together_say_the_clock_that_it_ran_at():
    validation = validated(replace(LAUNCH, cycles=1000.0, time_ns=1000.0))
    assert validation.us(500) == pytest.approx(0.5)


def test_blocks_with_a_part_of_a_warp_count_it_whole():
    assert not validated(replace(LAUNCH, block=(33, 1, 1), counts={0: 1024 * 2})).refuted
    assert validated(replace(LAUNCH, block=(32, 1, 1), counts={0: 1024 * 2})).refuted


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"kernel": "other"}, "unknown-kernel"),
        ({"device": None}, "unknown-device"),
        ({"device": None, "cycles": None, "time_ns": 5.0}, "unknown-clock"),
        ({"cycles": None}, "unmeasured"),
        ({"grid": None}, "unknown-shape"),
        ({"block": (4096, 1, 1)}, "impossible-launch"),
    ],
)
def test_what_is_not_known_is_a_gap(changed: dict[str, object], code: str):
    validation = validated(replace(LAUNCH, **changed))  # type: ignore[arg-type]
    assert code in [gap.code for gap in validation.gaps]
    assert (validation.ratio, validation.refuted) == (None, False)


def test_without_registers_the_occupancy_is_unknown():
    (validation,) = validate([LAUNCH], {None: SAXPY}, replace(SETTINGS, resources=None), Hardware())
    assert [gap.code for gap in validation.gaps] == ["unknown-occupancy"]


def test_two_kernels_with_the_same_name_are_ambiguous():
    functions = [replace(SAXPY[0], name=name) for name in ("_Z5saxpyIfEvT_", "_Z5saxpyIdEvT_")]
    assert [gap.code for gap in validated(LAUNCH, functions).gaps] == ["ambiguous-kernel"]
    assert validated(replace(LAUNCH, mangled="_Z5saxpyIdEvT_"), functions).gaps == ()


def test_recorded_arguments_bound_the_loops():
    launch = replace(LAUNCH, kernel="mandelbrot", block=(16, 16, 1), grid=(8, 8, 1))
    assert [gap.code for gap in validated(launch, LOOP).gaps] == ["unbounded-loop"]
    arguments = Launches((ProgramLaunch("mandelbrot", (8, 8, 1), (16, 16, 1), 0, (Argument(0x1C, 4, 100),)),))
    validation = validated(launch, LOOP, arguments=arguments)
    assert (validation.gaps, validation.arguments) == ((), True)
    assert validation.analysis is not None
    assert validation.analysis.bounds.of_loop == (99,)


def test_arguments_are_those_that_most_recorded_launches_have():
    """A program warms up with other numbers than it measures: a launch of 5000 steps was held to the arguments of one of 100,000."""
    launch = replace(LAUNCH, kernel="mandelbrot", block=(16, 16, 1), grid=(8, 8, 1))
    few, many = (ProgramLaunch("mandelbrot", (8, 8, 1), (16, 16, 1), 0, (Argument(0x1C, 4, steps),)) for steps in (100, 9000))
    one, other = (validated(launch, LOOP, arguments=Launches(several)) for several in ((few,), (many, few, few)))
    assert one.bound is not None
    assert other.bound == one.bound


def test_a_mangled_name_has_arguments_of_its_own_instance_of_a_template():
    """A kernel of doubles was held to the launches of the one of floats, whose buffers have half the bytes."""
    floats, doubles = "_Z10mandelbrotIfEvPT_", "_Z10mandelbrotIdEvPT_"
    several = [replace(LOOP[0], name=name) for name in (floats, doubles)]
    program_launches = [
        ProgramLaunch(name, (8, 8, 1), (16, 16, 1), 0, (Argument(0x1C, 4, steps),)) for name, steps in ((floats, 100), (doubles, 9000))
    ]
    for name, back_edges in ((floats, 99), (doubles, 8999)):
        launch = replace(LAUNCH, kernel=name, block=(16, 16, 1), grid=(8, 8, 1))
        validation = validated(launch, several, arguments=Launches(tuple(program_launches)))
        assert validation.analysis is not None
        assert (validation.analysis.bounds.of_loop, validation.analysis.cfg.function.name) == ((back_edges,), name)


def test_arguments_of_another_launch_are_not_taken():
    arguments = Launches((ProgramLaunch("mandelbrot", (9, 8, 1), (16, 16, 1), 0, (Argument(0x1C, 4, 100),)),))
    validation = validated(replace(LAUNCH, kernel="mandelbrot", block=(16, 16, 1), grid=(8, 8, 1)), LOOP, arguments=arguments)
    assert not validation.arguments


def test_the_summary_is_over_what_could_be_compared():
    launches = [LAUNCH, replace(LAUNCH, cycles=1e9), replace(LAUNCH, cycles=None)]
    result = summary(list(validate(launches, {None: SAXPY}, SETTINGS, Hardware())))
    assert (result.count, result.below) == (2, 1)


def test_nothing_to_compare_has_no_figures():
    assert (summary([]).count, summary([]).ratio_median, summary([]).tau) == (0, None, None)


def test_a_launch_without_an_image_has_one_kernel_in_the_inputs():
    mangled = tuple(replace(function, name="_Z5saxpyifPfS_") for function in SAXPY)
    assert validated(LAUNCH, mangled).gaps == ()
