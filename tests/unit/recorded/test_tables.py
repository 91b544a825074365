import pytest

from recordings import DETAILS, details, raw
from sassan.errors import InputError
from sassan.recorded import Recording
from sassan.recorded.read import content, read
from sassan.recorded.types import RecordedLaunch


def recording(text: str) -> Recording:
    result = content("runs.csv", text.encode())
    assert isinstance(result, Recording)
    return result


def only(text: str) -> RecordedLaunch:
    return recording(text).launches[0]


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        content("runs.csv", text.encode())
    assert caught.value.code == "bad-recording"
    return caught.value.message


def test_a_table_has_a_launch_per_row() -> None:
    text = 'kernel,block,grid,time_us,launches,device\n"k(int, float)","16,2,1",(8; 1)\n'
    assert "line 2" in refused(text)
    launch = only('kernel,block,grid,time_us,launches,device\n"k(int, float)","16,2,1",8x2,1.5,3,A100\n')
    assert (launch.kernel, launch.block, launch.grid, launch.time_ns, launch.count) == ("k(int, float)", (16, 2, 1), (8, 2, 1), 1500.0, 3)
    assert (launch.device.name if launch.device else "", launch.place) == ("A100", "line 2")


def test_the_median_is_the_time_and_the_range_stands_beside_it() -> None:
    launch = only("kernel,time_ns_min,time_ns_median,time_ns_max\nk,1,2,3\n")
    assert (launch.time_ns, launch.time_range_ns) == (2.0, (1.0, 3.0))


def test_parameters_and_cycles_are_read() -> None:
    launch = only("kernel,cycles,parameters,shared,program,arguments\nk,100,N=4; M=x,64,p,-n 4\n")
    assert (launch.cycles, launch.parameters, launch.shared, launch.arguments) == (100.0, {"N": "4", "M": "x"}, 64, "-n 4")


def test_other_columns_are_passed_over_with_a_note() -> None:
    assert recording("kernel,cycles,colour\nk,1,red\n").notes == ("line 1: the column 'colour' is not used",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("kernel,cycles\nk,-1\n", "'-1' in the column cycles is not a non-negative number"),
        ("kernel,cycles\nk,nan\n", "is not a non-negative number"),
        ("kernel,cycles\nk,12\x1d\n", "'12?' in the column cycles is not a non-negative number"),
        ("kernel,cycles\nk,\u0661\n", "is not a non-negative number"),
        ("kernel,cycles\nk,0\n", "neither a time nor cycles above 0"),
        ("kernel,cycles\nk,1e999\n", "is too large"),
        ("kernel,cycles\nk,\n", "neither a time nor cycles"),
        ("kernel,time_ns,cycles\nk,0,5\n", "is not a time"),
        ("kernel,time_ns,time_us\nk,1000,2\n", "contradicts the time in another unit"),
        ("kernel,time_ns_min,time_ns_median\nk,5,2\n", "out of order"),
        ("kernel,cycles\nk,1,2\n", "line 2: 3 cells; the head has 2"),
        ("kernel,cycles\n,1\n", "has no kernel"),
        ("kernel,cycles,cycles\nk,1,1\n", "duplicate column 'cycles'"),
        ('kernel,cycles\n"k,1\n', "not CSV"),
        ("kernel,cycles,block\nk,1,2000\n", "a block of 2000 x 1 x 1 cannot be launched"),
        ("kernel,cycles,grid\nk,1,0\n", "a grid of 0 x 1 x 1 cannot be launched"),
        ("kernel,cycles,launches\nk,1,1.5\n", "is not an integer"),
        ("kernel,cycles\n" + "k" * 200_000 + ",1\n", "not CSV"),
        ("kernel,cycles\nk\x1b[0m,1\n", "control characters"),
        ("kernel,cycles,parameters\nk,1,N\n", "expected NAME=VALUE"),
        ("kernel,cycles\n", "the table has no rows"),
    ],
)
def test_a_table_with_an_invalid_cell_is_refused(text: str, problem: str) -> None:
    assert problem in refused(text)


def test_a_last_line_without_an_end_is_a_note() -> None:
    assert recording("kernel,cycles\nk,12").notes == ("the last line has no line end: the file may be truncated",)


def test_a_duplicate_row_is_a_note() -> None:
    assert recording("kernel,cycles\nk,1\nk,1\n").notes == ("line 3: duplicate row",)


def test_the_details_of_a_launch_are_read_from_its_rows() -> None:
    text = "app output\n==PROF== Connected\n" + DETAILS
    text += details(("Duration", "us", "249.22"), ("Elapsed Cycles", "cycle", "379,490"), ("Executed Instructions", "inst", "1,966,080"))
    launch = only(text)
    assert (launch.kernel, launch.grid, launch.block, launch.place) == ("scale", (4, 1, 1), (256, 1, 1), "line 4")
    assert (launch.cycles, launch.time_ns, launch.instructions) == (379490.0, 249220.0, 1966080)
    assert launch.device is not None
    assert launch.device.arch == "sm_86"


def test_rows_of_several_launches_are_kept_apart() -> None:
    text = DETAILS + details(("Duration", "us", "1.50"), identity=0) + details(("Duration", "us", "2.50"), identity=1)
    assert [launch.time_ns for launch in recording(text).launches] == [1500.0, 2500.0]


def test_the_raw_page_has_a_launch_per_row_and_a_row_of_units() -> None:
    launch = only(raw(("sm__cycles_elapsed.max", "cycle", "379,490"), ("gpu__time_duration.sum", "us", "249.22")))
    assert (launch.cycles, launch.time_ns, launch.grid) == (379490.0, 249220.0, (4, 1, 1))


def test_a_locale_with_points_between_thousands_is_understood() -> None:
    launch = only(raw(("sm__cycles_elapsed.max", "cycle", "379.490"), ("gpu__time_duration.sum", "ns", "249.216,50")))
    assert (launch.cycles, launch.time_ns) == (379490.0, 249216.5)


def test_a_locale_with_spaces_between_thousands_is_understood() -> None:
    launch = only(raw(("sm__cycles_elapsed.max", "cycle", "379\u202f490"), ("gpu__time_duration.sum", "us", "249,22")))
    assert (launch.cycles, launch.time_ns) == (379490.0, 249220.0)


def test_a_number_that_can_be_read_in_two_ways_is_omitted_with_a_note() -> None:
    result = recording(raw(("gpu__time_duration.sum", "us", "117.344")))
    assert result.launches[0].time_ns is None
    assert "may be a decimal mark" in result.notes[0]


def test_a_count_decides_what_a_comma_means() -> None:
    launch = only(raw(("gpu__time_duration.sum", "us", "117.344"), ("smsp__inst_executed.sum", "inst", "1,024")))
    assert (launch.time_ns, launch.instructions) == (117344.0, 1024)


def test_numbers_of_two_conventions_are_refused() -> None:
    text = raw(("gpu__time_duration.sum", "us", "1.5"), ("sm__cycles_elapsed.avg", "cycle", "1,5"))
    assert "both a point and a comma" in refused(text)


def test_kilobytes_are_rounded_and_give_no_dynamic_shared_memory() -> None:
    exact = raw(("launch__shared_mem_per_block_dynamic", "byte/block", "1,024"))
    rounded = raw(("launch__shared_mem_per_block_dynamic", "Kbyte/block", "16.38"))
    assert (only(exact).shared, only(rounded).shared) == (1024, None)


def test_sizes_that_contradict_the_metrics_are_a_note() -> None:
    result = recording(raw(("launch__thread_count", "thread", "1,025"), ("gpu__time_duration.sum", "us", "1.5")))
    assert result.notes == ("line 4, scale: grid x block is 1024, launch__thread_count is 1025",)


def test_an_address_among_the_metrics_decides_nothing() -> None:
    launch = only(raw(("sm__cycles_elapsed.max", "cycle", "379,490"), ("host__address", "", "127.0.0.1")))
    assert launch.cycles == 379490.0


def test_a_head_without_quotes_is_read() -> None:
    launch = only(raw(("gpu__time_duration.sum", "us", "1.5")).replace('"0","1"', "0,1").replace('"ID","Process ID"', "ID,Process ID"))
    assert launch.time_ns == 1500.0


def test_a_number_that_is_too_large_is_refused() -> None:
    assert only(raw(("sm__cycles_elapsed.max", "cycle", "1e999"), ("gpu__time_duration.sum", "us", "1.5"))).cycles is None


def test_a_metric_that_was_not_collected_is_absent() -> None:
    result = recording(raw(("gpu__time_duration.sum", "us", "1.5"), ("sm__cycles_elapsed.max", "cycle", "n/a")))
    assert (result.launches[0].cycles, result.notes) == (None, ())


def test_a_warning_of_the_profiler_is_a_note() -> None:
    text = DETAILS + details(("Duration", "us", "1.50")) + "==WARNING== No metrics\n"
    assert recording(text).notes == ("line 3: ==WARNING== No metrics",)


def test_summaries_of_several_launches_are_refused() -> None:
    assert "summarize" in refused('"ID","Kernel Name","Invocations","Metric Name"\n"0","k","2","Duration"\n')


def test_a_duration_without_a_unit_is_refused() -> None:
    assert "expected a time or cycles above 0" in refused(DETAILS + details(("Duration", "", "1.50")))


def test_a_head_with_a_damaged_quotation_is_refused() -> None:
    text = DETAILS.replace('"Host Name","Kernel', '"Host Name,"Kernel') + details(("Duration", "us", "1.50"))
    assert refused(text)


def test_a_row_with_too_few_cells_is_refused_with_its_line() -> None:
    assert "line 3: 2 cells" in refused(DETAILS + details(("Duration", "us", "1.50")) + '"0","1"\n')


def test_a_text_that_is_not_a_table_is_unknown() -> None:
    with pytest.raises(InputError) as caught:
        content("x", b"hello\n")
    assert caught.value.code == "unknown-recording"


def test_a_file_that_is_not_there_is_refused(tmp_path: object) -> None:
    with pytest.raises(InputError) as caught:
        read(f"{tmp_path}/none")
    assert caught.value.code == "missing-file"
