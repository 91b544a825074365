"""`sassan record` on programs in C that register a shipped cubin: what is written down, how a recording ends, what the program sees."""

import hashlib
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from budget import PATIENCE
from cli.shell import SAMPLES
from record.programs import build, needs_compiler
from sassan.cli import main
from sassan.launches import Buffer, Launches, MemoryWrite, ProgramDevice
from sassan.launches import read as read_launches

CUBIN = SAMPLES / "sm_61" / "saxpy.cubin"
CODE = f"sha256:{hashlib.sha256(CUBIN.read_bytes()).hexdigest()}"
FIRST = 0x200000000000

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("programs"), "runtime")


def recorded(tmp_path: Path, program: Path, mode: str, *options: str, status: int = 0) -> Launches:
    output = tmp_path / "launches.toml"
    assert main.run(["record", "-q", "-o", str(output), "--sm", "6.1", *options, "--", str(program), mode, str(CUBIN)]) == status
    return read_launches(str(output))


def shapes(recording: Launches) -> list[tuple[int, int, int]]:
    return [(launch.grid[0], launch.block[0], launch.count) for launch in recording.launches]


def test_equal_launches_in_a_row_are_one_and_the_order_is_kept(tmp_path: Path, program: Path):
    assert shapes(recorded(tmp_path, program, "")) == [(4, 256, 3), (2, 256, 1)]


def test_a_launch_has_its_kernel_its_code_and_every_argument(tmp_path: Path, program: Path):
    first = recorded(tmp_path, program, "").launches[0]
    assert (first.kernel, first.code, first.shared, first.stream) == ("saxpy", CODE, 0, 0)
    assert first.arguments is not None
    assert [(argument.offset, argument.size, argument.value) for argument in first.arguments] == [
        (0, 4, 1000),
        (4, 4, 0x40000000),
        (8, 8, FIRST),
        (16, 8, FIRST + 4608),
    ]


def test_a_pointer_names_the_buffer_that_it_points_into(tmp_path: Path, program: Path):
    arguments = recorded(tmp_path, program, "").launches[0].arguments
    assert arguments is not None
    assert [argument.buffer for argument in arguments] == [None, None, Buffer(1, 0, 4000), Buffer(2, 0, 4000)]


def test_the_same_program_gives_the_same_bytes(tmp_path: Path, program: Path):
    recorded(tmp_path, program, "")
    first = (tmp_path / "launches.toml").read_bytes()
    recorded(tmp_path, program, "")
    assert (tmp_path / "launches.toml").read_bytes() == first


def test_copies_copy_sets_set_and_new_memory_is_zero(tmp_path: Path, program: Path):
    assert recorded(tmp_path, program, "data", status=3).status == 0


def test_a_captured_graph_makes_its_launches_each_time_it_is_launched(tmp_path: Path, program: Path):
    result = recorded(tmp_path, program, "graph")
    assert shapes(result) == [(5, 32, 1), (6, 32, 1), (5, 32, 1), (6, 32, 1)]
    assert {launch.stream for launch in result.launches} == {1}


def test_a_launch_that_a_gpu_would_refuse_is_refused_and_not_recorded(tmp_path: Path, program: Path):
    result = recorded(tmp_path, program, "refused")
    assert (result.status, shapes(result)) == (0, [(4, 256, 3), (2, 256, 1)])


def test_a_function_that_is_not_supported_is_named(tmp_path: Path, program: Path):
    assert "cudaMallocMipmappedArray is not supported: 2 calls returned an error" in recorded(tmp_path, program, "unknown").notes


def test_what_a_program_launched_before_it_crashed_is_kept(tmp_path: Path, program: Path):
    result = recorded(tmp_path, program, "crash")
    assert (result.status, result.cut, result.total) == (-signal.SIGSEGV, "", 4)


def test_the_status_of_the_program_is_written_down(tmp_path: Path, program: Path):
    assert recorded(tmp_path, program, "status").status == 3


def test_an_endless_program_is_stopped_at_the_limit_of_launches(tmp_path: Path, program: Path):
    result = recorded(tmp_path, program, "endless", "--max-launches", "5")
    assert len(result.launches) == 5
    assert result.cut.endswith("5 distinct consecutive launches (--max-launches)")
    assert result.status is None


def test_a_waiting_program_is_stopped_at_the_time_limit(tmp_path: Path, program: Path):
    # A busy machine may need longer for the launches before: then the limit is longer, too.
    output = tmp_path / "launches.toml"
    for seconds in ("0.5", "5", "50"):
        status = main.run(
            ["record", "-q", "-o", str(output), "--sm", "6.1", "--time-limit", seconds, "--", str(program), "wait", str(CUBIN)]
        )
        if status == 0 and read_launches(str(output)).total == 4:
            break
    assert (status, read_launches(str(output)).cut) == (0, f"after {seconds} s (--time-limit)")
    assert read_launches(str(output)).total == 4


def test_a_process_that_the_program_forks_is_recorded_too(tmp_path: Path, program: Path):
    # Each process has its own connection: in which order those are read, and so which launches are in a row, is not fixed.
    number = Counter[tuple[int, int]]()
    for grid, block, count in shapes(recorded(tmp_path, program, "fork")):
        number[grid, block] += count
    assert number == {(2, 256): 1, (4, 256): 3, (7, 64): 1, (8, 64): 1}


def test_the_program_sees_the_device_of_the_options_and_its_occupancy(tmp_path: Path, program: Path, capfd: pytest.CaptureFixture[str]):
    result = recorded(tmp_path, program, "properties", "--device-name", "My GPU", "--sms", "7", "--memory", "2")
    assert capfd.readouterr().out == "My GPU, 7 SMs, 8 blocks\n"
    assert result.device == ProgramDevice("My GPU", "sm_61", 7, 2 * 1024**3)


def test_the_code_that_was_launched_can_be_kept(tmp_path: Path, program: Path):
    recorded(tmp_path, program, "", "--images", str(tmp_path / "code"))
    assert (tmp_path / "code" / f"{CODE.removeprefix('sha256:')}.cubin").read_bytes() == CUBIN.read_bytes()


def test_an_interrupt_leaves_what_was_recorded(tmp_path: Path, program: Path):
    output = tmp_path / "launches.toml"
    command = [sys.executable, "-m", "sassan", "record", "-o", str(output), "--", str(program), "wait", str(CUBIN)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"stopped interrupted" in said
    assert (read_launches(str(output)).cut, read_launches(str(output)).total) == ("interrupted", 4)


@pytest.mark.parametrize("kind", ["cubin", "ptx"])
def test_a_program_of_the_driver_is_recorded_with_machine_code_and_with_ptx(tmp_path: Path, kind: str):
    made = build(tmp_path, "driver", "libcuda.so.1")
    output = tmp_path / "launches.toml"
    image = SAMPLES / "sm_61" / f"saxpy.{kind}"
    assert main.run(["record", "-q", "-o", str(output), "--", str(made), str(image)]) == 0
    result = read_launches(str(output))
    assert [(launch.kernel, launch.grid, launch.block, launch.shared) for launch in result.launches] == [
        ("saxpy", (2, 1, 1), (32, 1, 1), 64)
    ] * 2
    assert [[argument.value for argument in launch.arguments or ()][:3] for launch in result.launches] == [
        [3, 0x3F800000, FIRST],
        [4, 0x3F800000, FIRST],
    ]


@pytest.mark.parametrize(("runtime", "place"), [("libcudart.so.11.0", 388), ("libcudart.so.12", 388), ("libcudart.so.13", 384)])
def test_the_properties_of_the_device_have_the_layout_of_the_runtime_that_was_linked(tmp_path: Path, runtime: str, place: int):
    made = build(tmp_path, "properties", runtime, f'-DVERSION="{runtime}"', f"-DPLACE={place}")
    output = tmp_path / "launches.toml"
    main.run(["record", "-q", "-o", str(output), "--sm", "8.6", "--", str(made)])
    assert read_launches(str(output)).status == 0


@pytest.mark.parametrize(
    ("defines", "version", "place"), [((), 11080, 388), (("-DTWELVE", "-DNEWEST"), 12090, 388), (("-DNEWEST",), 13000, 384)]
)
def test_the_functions_of_a_static_runtime_are_redirected(tmp_path: Path, defines: tuple[str, ...], version: int, place: int):
    made = build(tmp_path, "static", "libcudart.so.13", "-Wl,--as-needed", f"-DVERSION={version}", f"-DPLACE={place}", *defines)
    output = tmp_path / "launches.toml"
    assert main.run(["record", "-q", "-o", str(output), "--sm", "8.6", "--", str(made)]) == 3  # it launches nothing
    assert read_launches(str(output)).status == 0


WORDS, FIVES, THREES = bytes(number % 256 for number in range(4000)), b"\5" * 4000, b"\3" * 400


def test_what_the_host_writes_stands_with_the_next_launch_and_its_bytes_beside_the_file(tmp_path: Path, program: Path):
    recording = recorded(tmp_path, program, "transfers")
    said = [
        [(write.address - FIRST, write.size, write.source, recording.data.get(write.data)) for write in launch.writes]
        for launch in recording.launches
    ]
    assert said == [
        [(0, 4000, None, WORDS)],
        [(4608, 4000, None, FIVES), (5608, 400, FIRST, None)],
        [(0, 400, None, THREES)],
        [(4608, 400, FIRST, None)],
        [(4608, 400, FIRST, None)],
        [(0, 4000, None, None)],
        [(0, 400, None, None)],  # read back before: zeros here, and what a kernel computes on a GPU
    ]
    assert shapes(recording) == [(1, 32, 1), (2, 32, 1), (3, 32, 3), (4, 32, 1), (4, 32, 1), (5, 32, 1), (6, 32, 1)]


def test_data_are_kept_up_to_a_limit_and_not_at_all_if_nobody_wants_them(tmp_path: Path, program: Path):
    few = recorded(tmp_path, program, "transfers", "--data", "1000")
    assert {len(data) for data in few.data.values()} == {400}
    assert [len(launch.writes) for launch in few.launches] == [1, 2, 1, 1, 1, 1, 1]
    (tmp_path / "launches.data").unlink()
    none = recorded(tmp_path, program, "transfers", "--data", "none")
    assert (none.data, [launch.writes for launch in none.launches]) == ({}, [()] * 6)
    assert not (tmp_path / "launches.data").exists()


def test_small_writes_are_joined_equal_bytes_are_sent_once_and_of_too_many_writes_the_memory_is_unknown(tmp_path: Path, program: Path):
    first, second, third = recorded(tmp_path, program, "pieces", "--data", "8100").launches[:3]
    (whole,) = first.writes
    assert (whole.address - FIRST, whole.size) == (0, 4000)
    assert second.writes == (MemoryWrite(FIRST + 4608, 4000, whole.data),)
    assert len(third.writes) == 10_001
    assert third.writes[-1] == MemoryWrite(FIRST, 4608 + 4000 - 12)  # both buffers, up to the last byte written


def test_a_forked_process_reports_no_write_of_its_parent(tmp_path: Path, program: Path):
    assert (4, 32, 1) in shapes(recorded(tmp_path, program, "pieces and a fork"))


@pytest.mark.parametrize("size", ["", "64T", "-1", "2G", "0x10"])
def test_a_size_that_is_none_is_refused(tmp_path: Path, program: Path, size: str, capsys: pytest.CaptureFixture[str]):
    assert main.run(["record", "-o", str(tmp_path / "x.toml"), "--data", size, "--", str(program)]) == 2
    assert "error[record-data]" in capsys.readouterr().err


def test_writes_of_several_processes_are_not_kept(tmp_path: Path):
    program = build(tmp_path, "runtime")
    recording = recorded(tmp_path, program, "fork")
    assert {launch.writes for launch in recording.launches} == {()}
    assert any("several processes" in text for text in recording.notes)
