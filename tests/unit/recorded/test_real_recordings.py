import pytest

from sassan.frontend.image import Image
from sassan.recorded import Recording, TuningSpace, read
from silicon import silicon


def test_the_kernels_of_a_real_report_have_their_cycles_and_instructions() -> None:
    recording = read(silicon("ncu/manual_nvtx.ncu-rep"))
    assert isinstance(recording, Recording)
    assert [(launch.kernel, launch.cycles, launch.instructions, launch.time_ns) for launch in recording.launches] == [
        ("init_data_kernel", 124056.0, 1703936, 84480.0),
        ("daxpy_kernel", 379490.0, 1966080, 249216.0),
        ("check_results_kernel", 122573.0, 1835008, 88512.0),
    ]
    assert recording.notes == ()


def test_the_counts_of_a_real_report_are_per_instruction() -> None:
    recording = read(silicon("ncu/manual_nvtx.ncu-rep"))
    assert isinstance(recording, Recording)
    daxpy = recording.launches[1]
    assert daxpy.counts == dict.fromkeys(range(0, 240, 16), 131072)
    assert (daxpy.grid, daxpy.block, daxpy.image) == ((16384, 1, 1), (256, 1, 1), 0)


def test_the_cubin_of_a_real_report_is_a_cubin() -> None:
    recording = read(silicon("ncu/manual_nvtx.ncu-rep"))
    assert isinstance(recording, Recording)
    assert Image("cubin", recording.images[0]).kind == "ELF"
    assert len(recording.images[0]) == 11416


@pytest.mark.parametrize(
    ("name", "kernel", "cycles", "sms"),
    [
        ("CuVectorAddDrv", "VecAdd_kernel", 4587.0, 46),
        ("vector_add.sm_120", "vector_add", 12821.0, 46),
        ("vector_add_plus1.sm_120", "vector_add_plus1", 5350.0, 46),
    ],
)
def test_reports_of_several_versions_are_read_without_a_note(name: str, kernel: str, cycles: float, sms: int) -> None:
    recording = read(silicon(f"ncu/{name}.ncu-rep"))
    assert isinstance(recording, Recording)
    assert [(launch.kernel, launch.cycles) for launch in recording.launches] == [(kernel, cycles)]
    assert (recording.device.sm_count if recording.device else 0, recording.notes) == (sms, ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count", "valid", "best"),
    [("convolution", 4362, 4201, 0.54784), ("dedispersion", 11130, 11130, 66.8416)],
)
def test_the_caches_of_real_tuning_runs_are_read_without_a_note(name: str, count: int, valid: int, best: float) -> None:
    space = read(silicon(f"tuner/{name}.A100.json.gz"))
    assert isinstance(space, TuningSpace)
    assert (len(space.configurations), sum(configuration.valid for configuration in space.configurations), space.notes) == (
        count,
        valid,
        (),
    )
    assert min(
        min(configuration.times_ms, default=configuration.recorded_ms or 1e9) for configuration in space.configurations
    ) == pytest.approx(best, rel=1e-4)


def test_the_table_of_measured_programs_is_read() -> None:
    recording = read(silicon("programs/measured.csv"))
    assert isinstance(recording, Recording)
    assert (len(recording.launches), recording.notes) == (411, ())
    first = recording.launches[0]
    assert (first.program, first.grid, first.block, first.time_ns, first.count) == ("accuracy-cuda", (2048, 1, 1), (256, 1, 1), 501792.0, 2)
