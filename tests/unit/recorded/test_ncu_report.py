from dataclasses import replace

import pytest

from ncu_report import BASE, BLOCK, CODE, GRID, KERNEL, SIZE, WARPS, Launch, block, blocks, reference, report, structure, varint
from sassan.errors import InputError
from sassan.recorded import Recording
from sassan.recorded.ncu import protobuf
from sassan.recorded.read import content


def read(data: bytes) -> Recording:
    result = content("k.ncu-rep", data)
    assert isinstance(result, Recording)
    return result


def refused(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        content("k.ncu-rep", data)
    assert caught.value.code == "bad-recording"
    return caught.value.message


def test_a_launch_has_the_kernel_grid_and_block_of_its_result() -> None:
    launch = read(report().data).launches[0]
    assert (launch.kernel, launch.mangled, launch.grid, launch.block) == (KERNEL, KERNEL, GRID, BLOCK)


def test_a_launch_has_its_cycles_and_its_time() -> None:
    launch = read(report().data).launches[0]
    assert (launch.cycles, launch.time_ns, launch.shared) == (124056.0, 84480.0, 1024)


def test_counts_are_by_offset_within_the_kernel() -> None:
    launch = read(report(Launch(counts={0: WARPS, 16: 7})).data).launches[0]
    assert launch.counts == {0: WARPS, 16: 7}
    assert launch.thread_counts == {0: WARPS * 32, 16: 224}
    assert launch.instructions == WARPS + 7


def test_the_image_of_a_launch_is_the_cubin_that_its_result_refers_to() -> None:
    recording = read(report().data)
    assert recording.images[recording.launches[0].image or 0] == CODE


def test_the_device_is_that_of_the_session() -> None:
    device = read(report().data).device
    assert device is not None
    assert (device.name, device.arch, device.sm_count, device.clock_hz) == ("Synthetic A100", "sm_80", 108, 1.41e9)


def test_an_undamaged_report_has_no_notes() -> None:
    assert read(report(Launch(1), Launch(3, cycles=1e6, time_ns=7e5)).data).notes == ()


def test_strings_of_an_earlier_block_serve_later_ones() -> None:
    assert [launch.cycles for launch in read(report(Launch(1), Launch(2)).data).launches] == [124056.0, 124056.0]


def test_units_are_those_of_the_metric() -> None:
    metrics = read(report().data).launches[0].metrics
    assert metrics["gpu__time_duration.sum"].unit == "ns"
    assert metrics["launch__shared_mem_per_block_dynamic"].unit == "byte/block"
    assert metrics["gpc__cycles_elapsed.avg.per_second"].unit == "hz"


@pytest.mark.parametrize(
    ("changed", "note"),
    [
        ({"launch__grid_dim_y": 3.0}, "the grid in y is 2, launch__grid_dim_y is 3"),
        ({"launch__thread_count": 1.0}, "grid x block is 524288, launch__thread_count is 1"),
        ({"smsp__inst_executed.sum": 163841.0}, "inst_executed is 163840, smsp__inst_executed.sum is 163841"),
        ({"inst_executed": 5}, "inst_executed is 5, smsp__inst_executed.sum is 163840"),
        ({"gpu__time_duration.sum": 94480.0}, "the launch took 94480 ns"),
        ({"launch__shared_mem_per_block_static": 0.0}, "launch__shared_mem_per_block is 3072 bytes, its parts are 2048"),
        ({"thread_inst_executed": 1}, "the sum over thread_inst_executed is 5242880, thread_inst_executed is 1"),
        ({"sm__cycles_elapsed.max": None}, "the metric sm__cycles_elapsed.max has no value"),
        ({"gpu__time_duration.sum": 0.0}, "gpu__time_duration.sum is 0, which is impossible"),
        ({"gpu__time_duration.sum": float("nan")}, "gpu__time_duration.sum is nan and is omitted"),
    ],
)
def test_a_contradiction_within_a_launch_is_a_note(changed: dict[str, float], note: str) -> None:
    assert any(note in text for text in read(report(Launch(changed=changed)).data).notes)


def test_counts_of_functions_that_the_kernel_calls_are_omitted_with_a_note() -> None:
    recording = read(report(Launch(counts={0: 8, SIZE: 9})).data)
    assert recording.launches[0].counts == {0: 8}
    assert "1 counted instructions are outside the kernel" in recording.notes[0]


def test_counts_have_no_offset_where_the_launch_and_the_cubin_place_the_kernel_differently() -> None:
    recording = read(report(address=BASE + 256).data)
    assert recording.launches[0].counts == {}
    assert "counts are omitted" in recording.notes[0]


def test_a_source_that_is_not_in_the_report_is_a_note() -> None:
    recording = read(report(Launch(source=5)).data)
    assert recording.launches[0].image is None
    assert "the machine code of source 5 is not in the report" in recording.notes[0]


def test_a_cubin_for_another_architecture_than_its_source_is_a_note() -> None:
    assert any("but for sm_80 according to its header" in note for note in read(report(capability=9 << 16).data).notes)


def test_a_duplicate_launch_is_a_note() -> None:
    assert any("follows launch 1" in note for note in read(report(Launch(1), Launch(1)).data).notes)


def test_a_field_of_a_result_that_no_known_version_writes_is_a_note() -> None:
    assert any("a result has the unknown fields [40]" in note for note in read(report(Launch(extra=reference(40, 1))).data).notes)


def test_a_repeated_field_of_a_result_is_refused() -> None:
    assert "field 14 is repeated" in refused(report(Launch(extra=reference(14, 1) + reference(14, 2))).data)


def test_a_field_of_a_block_header_that_no_known_version_writes_is_a_note() -> None:
    data = report().data + block(about=reference(9, 1)).data
    assert any("a block header has the unknown fields [9]" in note for note in read(data).notes)


def test_a_kernel_that_its_cubin_does_not_hold_is_a_note() -> None:
    assert any(
        "the kernel 'other' is not among the functions of its cubin" in note for note in read(report(Launch(kernel="other")).data).notes
    )


def test_a_count_where_no_instruction_begins_is_a_note() -> None:
    assert any("that is not the start of an instruction" in note for note in read(report(Launch(counts={4: 8})).data).notes)


def test_a_device_that_cannot_run_the_cubin_is_a_note() -> None:
    assert any("the cubin is for sm_90, the device is sm_80" in note for note in read(report(capability=9 << 16).data).notes)


def test_a_device_that_the_launch_describes_differently_is_a_note() -> None:
    recording = read(report(Launch(changed={"device__attribute_display_name": "Another GPU"})).data)
    assert recording.device is not None
    assert recording.device.name == "Another GPU"
    assert any("describe the device 0 differently" in note for note in recording.notes)


def test_a_result_of_a_range_is_omitted_with_a_note() -> None:
    recording = read(report(Launch(1, kernel=""), Launch(2)).data)
    assert [launch.kernel for launch in recording.launches] == [KERNEL]
    assert any("a result without a kernel" in note for note in recording.notes)


def test_a_payload_that_is_longer_than_its_messages_is_refused() -> None:
    whole = block()
    longer = whole.data[:4] + whole.data[4:].replace(b"\x28\x00", b"\x28\x03", 1)
    assert "3 bytes follow the last message of a block" in refused(report().data + longer + b"abc")


@pytest.mark.parametrize("cut", [1, 2, 100, 4000])
def test_a_truncated_report_is_refused(cut: int) -> None:
    assert "byte" in refused(report().data[:-cut])


def test_bytes_behind_the_last_block_are_refused() -> None:
    assert "bytes are left, expected the length of a block header" in refused(report().data + b"\0\0")


def test_a_report_without_results_is_refused() -> None:
    assert refused(structure(b"NVR\0\2\0\0\0\10\7").data + block().data) == "the report has no result of a profiled kernel"


def test_a_block_that_claims_more_than_the_file_has_is_refused() -> None:
    assert "a block claims" in refused(structure(b"NVR\0\2\0\0\0\10\7").data + block(sources=1 << 30).data)


def test_a_damaged_cubin_is_refused() -> None:
    assert "the cubin of a source is damaged" in refused(report(code=CODE[:-200]).data)


@pytest.mark.parametrize("grid", [(0, 1, 1), (1 << 40, 1, 1)])
def test_a_grid_that_no_launch_has_is_refused(grid: tuple[int, int, int]) -> None:
    assert "is not a grid of a launch" in refused(report(Launch(grid=grid)).data)


def test_a_name_with_control_characters_is_refused() -> None:
    assert "control characters" in refused(report(Launch(kernel="a\x1b[31m")).data)


def test_a_number_that_does_not_end_is_refused() -> None:
    with pytest.raises(InputError, match="unterminated"):
        protobuf.Message("k", b"\x08" + b"\xff" * 20, 0, 21, "a message")


def test_a_number_with_more_bytes_than_it_needs_is_refused() -> None:
    with pytest.raises(InputError, match="not in its shortest encoding"):
        protobuf.Message("k", b"\x08\x80\x00", 0, 3, "a message")


def test_a_field_that_is_longer_than_its_message_is_refused() -> None:
    with pytest.raises(InputError, match="length 5 exceeds the remaining length 1"):
        protobuf.Message("k", b"\x0a\x05a", 0, 3, "a message")


def test_a_repeated_field_is_refused() -> None:
    with pytest.raises(InputError, match="repeated 2 times"):
        protobuf.Message("k", b"\x08\x01\x08\x01", 0, 4, "a message").whole(1)


def test_the_largest_number_is_read() -> None:
    data = b"\x08" + varint((1 << 64) - 1)
    assert protobuf.Message("k", data, 0, len(data), "a message").whole(1) == (1 << 64) - 1


def test_the_order_of_launches_is_that_of_the_file() -> None:
    first, second = Launch(1, cycles=1e5, time_ns=7e4), Launch(2)
    assert [launch.cycles for launch in read(report(first, replace(second, cycles=2e5, time_ns=14e4)).data).launches] == [1e5, 2e5]


def test_a_block_of_no_source_and_no_result_changes_nothing() -> None:
    parts = blocks()
    data = b"".join(part.data for part in (*parts, block()))
    assert read(data) == read(b"".join(part.data for part in parts))
