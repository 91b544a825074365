"""Samples in files: reading, writing, and the errors for invalid files."""

import json
import random
from contextlib import suppress

import pytest

from sassan.errors import InputError
from sassan.measure import SampleGroup, Samples
from sassan.measure.read import json_text, load, read, text
from sassan.source import Source

KNOWN = Samples(
    (SampleGroup(0, (0.31, 0.2), 0.5, 2.0, 1000.0, (47, 44)), SampleGroup(3, (0.1, 0.25, 1e-9), 0.25, 0.0, 1000.0, (5, 6, 7))),
    {"device": "none: synthetic", "date": "2000-01-01"},
)


def of(content: str) -> Samples:
    return read(Source("f", content))


@pytest.mark.parametrize("name", ["x.csv", "x.json"])
def test_what_is_written_is_read_again(name: str):
    assert of(text(name, KNOWN)) == KNOWN


def test_csv_has_a_line_per_run_and_their_number():
    assert text("x.csv", Samples((SampleGroup(0, (0.31, 0.2), 0.5, 2.0),), {"device": "d"})) == (
        "# device: d\n# runs: 2\ngroup,run,seconds,delay\n0,0,0.31,2.0\n0,1,0.2,0.5\n"
    )


def test_seconds_alone_are_one_group():
    assert of("seconds\n2\n1e-3\n.5\n") == Samples((SampleGroup(0, (2.0, 0.001, 0.5)),))


def test_groups_without_run_numbers_count_as_they_stand():
    assert [group.seconds for group in of("group,seconds\n0,1\n0,2\n1,3\n1,4\n").groups] == [(1.0, 2.0), (3.0, 4.0)]


def test_runs_may_count_from_one_as_in_the_paper():
    assert of("run,seconds\n1,5\n2,6\n").groups[0].seconds == (5.0, 6.0)


def test_columns_come_in_any_order_quoted_or_not_with_any_line_end():
    assert of('\ufeff"seconds", "group"\r\n1 , 7\r\n2,7\r\n').groups == (SampleGroup(7, (1.0, 2.0)),)


def test_the_first_delay_of_a_group_is_its_pause():
    assert of("seconds,delay\n1,2\n1,0.5\n1,0.5\n").groups[0] == SampleGroup(0, (1.0, 1.0, 1.0), delay=0.5, pause=2.0)


@pytest.mark.parametrize("content", ["[1, 2]", "[[1, 2]]", '{"groups": [{"seconds": [1, 2]}]}'])
def test_json_may_be_a_list_of_lists_or_an_object(content: str):
    assert of(content) == Samples((SampleGroup(0, (1.0, 2.0)),))


def test_json_keeps_what_is_known():
    assert json.loads(json_text(KNOWN))["device"] == "none: synthetic"


def test_sizes_come_in_order_and_the_unknown_one_first():
    result = of("group,seconds,size\n0,1,20\n1,1,\n2,1,3\n3,1,20\n").by_size()
    assert [(size, [group.number for group in groups]) for size, groups in result.items()] == [(None, [1]), (3.0, [2]), (20.0, [0, 3])]


@pytest.mark.parametrize(
    ("content", "line", "column", "width"),
    [
        ("seconds\n1\n-2\n", 3, 1, 2),
        ("group,seconds\n0,nan\n", 2, 3, 3),
        ("group,seconds\n0, inf\n", 2, 4, 3),
        ("seconds\n1e400\n", 2, 1, 5),
        ("seconds\n0\n", 2, 1, 1),
        ("seconds\n2e9\n", 2, 1, 3),
        ("seconds\n1_0\n", 2, 1, 3),
        ("seconds\n\uff11\n", 2, 1, 1),
        ("seconds\n0x1\n", 2, 1, 3),
        ("group,seconds\n1\n", 2, 1, 1),
        ("group,seconds\n0,1\n0,1,7\n", 3, 5, 1),
        ("group,seconds\n-1,1\n", 2, 1, 2),
        ("group,seconds\n0.5,1\n", 2, 1, 3),
        ("seconds,delay\n1,-1\n", 2, 3, 2),
        ("secs\n1\n", 1, 1, 4),
        ("group,run\n1,1\n", 1, 1, 5),
        ("seconds,seconds\n1,1\n", 1, 1, 7),
        ("seconds;group\n1;1\n", 1, 1, 13),
        ('{"groups": [', 1, 13, 1),
        ("[1,\n2,,]", 2, 3, 1),
    ],
)
def test_a_bad_cell_is_marked(content: str, line: int, column: int, width: int):
    with pytest.raises(InputError) as refused:
        of(content)
    result = refused.value
    assert result.code == "bad-samples"
    assert result.span is not None
    assert (result.span.line, result.span.column, result.span.width) == (line, column, width)
    assert result.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there are no runs"),
        (" \n\n", "there are no runs"),
        ("# device: x\n", "there are no runs"),
        ("seconds\n", "there are no runs"),
        ("[]", "there are no runs"),
        ('{"groups": []}', "there are no runs"),
        ("{}", "there are no runs"),
        ('{"groups": 3}', "groups: must be an array of objects"),
        ('{"groups": [{"seconds": []}]}', "groups[0].seconds: there are no runs"),
        ('{"groups": [{"seconds": 3}]}', "groups[0].seconds: must be an array"),
        ('{"groups": [3]}', "groups: must be an array of objects"),
        ('{"groups": [{"second": [1]}]}', "groups[0].second: unknown key (known: group, seconds, delay, pause, size, cycles)"),
        ('{"groups": [{"seconds": ["a"]}]}', "groups[0].seconds[0]: must be a number from 1e-12 to 1e+09, not 'a'"),
        ('{"groups": [{"seconds": [1], "cycles": [1, 2]}]}', "groups[0].cycles: must be as many as the runs, 1, not 2"),
        ('{"groups": [{"seconds": [1], "group": 2}, {"seconds": [1], "group": 2}]}', "group 2 is given twice"),
        ('{"groups": [{"seconds": [1]}], "device": 7}', "device: must be a string, not 7"),
        ("[true]", "groups[0].seconds[0]: must be a number from 1e-12 to 1e+09, not True"),
        ("[1, [2]]", "groups[0].seconds[1]: must be a number from 1e-12 to 1e+09, not [2]"),
        ("[0]", "groups[0].seconds[0]: must be a number from 1e-12 to 1e+09, not 0"),
        ("[NaN]", "groups[0].seconds[0]: must be a number from 1e-12 to 1e+09, not nan"),
        ("# runs: 3\nseconds\n1\n2\n", "the file is truncated: it announces 3 runs and has 2"),
        ("# runs: 2\nseconds\n0.002\n0.0", "'0.0': 0 is not a duration in seconds (from 1e-12 to 1e+09)"),
        ("# runs: 2\nseconds\n0.002\n0.00", "'0.00': 0 is not a duration in seconds (from 1e-12 to 1e+09)"),
        ("# runs: 2\nseconds\n0.002\n0.001", "the file is truncated: it announces 2 runs and has 2"),
        ("group,run,seconds\n0,0,1\n0,2,1\n", "group 0: run 2 found, expected run 1"),
        ("group,seconds\n0,1\n1,1\n0,1\n", "the runs of group 0 are not consecutive"),
        ("seconds,delay\n1,0\n1,1\n1,2\n", "group 0 has different delays after the warm-up"),
        ("seconds,size\n1,0\n1,1\n", "group 0 has different sizes"),
        ("seconds,cycles\n1,5\n1,\n", "group 0 has cycles for 1 of 2 runs"),
    ],
)
def test_invalid_samples_are_refused_with_a_reason(content: str, message: str):
    with pytest.raises(InputError) as refused:
        of(content)
    assert (refused.value.code, refused.value.message) == ("bad-samples", message)
    assert refused.value.source is not None


@pytest.mark.parametrize("content", ["[" * 100_000, "[" + "9" * 5000 + "]", '{"a":' * 50_000])
def test_json_that_would_break_a_parser_is_refused(content: str):
    with pytest.raises(InputError) as refused:
        of(content)
    assert refused.value.code == "bad-samples"


def test_every_truncation_of_a_file_with_its_length_is_detected():
    whole = text("x.csv", KNOWN)
    begin = whole.index("seconds") + len("seconds,delay,size,cycles\n")
    for end in range(begin, len(whole)):
        with pytest.raises(InputError):
            of(whole[:end])


def test_random_bytes_never_do_more_than_be_refused():
    noise = random.Random(7)
    for _ in range(300):
        content = "seconds\n" + "".join(chr(noise.choice((*b"0123456789.,-+eE\n\r# \"':[]{}", 0x2028))) for _ in range(40))
        with suppress(InputError):
            assert of(content).runs > 0


@pytest.mark.parametrize(
    ("data", "code"), [(b"seconds\n1\0\n", "binary-input"), (b"seconds\n\xff\n", "not-utf8"), (b"\x7fELF" + bytes(60), "bad-samples")]
)
def test_a_file_that_is_not_text_is_refused(data: bytes, code: str, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    with pytest.raises(InputError) as refused:
        load(str(path))
    assert refused.value.code == code


@pytest.mark.slow
def test_a_hundred_thousand_runs_are_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("seconds\n" + "0.002243\n" * 100_000, encoding="utf-8")
    assert load(str(path)).runs == 100_000
