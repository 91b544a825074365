import gzip
import json
from typing import Any

import pytest

from recordings import CACHE, KTT, T4
from sassan.errors import InputError
from sassan.recorded import TuningSpace
from sassan.recorded.read import content


def space(document: object) -> TuningSpace:
    return read(json.dumps(document, indent=0).encode())


def read(data: bytes) -> TuningSpace:
    result = content("cache.json", data)
    assert isinstance(result, TuningSpace)
    return result


def refused(data: bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        content("cache.json", data)
    return caught.value


def with_entry(key: str, **changes: object) -> dict[str, Any]:
    return CACHE | {"cache": CACHE["cache"] | {key: CACHE["cache"].get(key, {}) | changes}}


def test_a_cache_has_the_configurations_in_its_order() -> None:
    result = space(CACHE)
    assert (result.kernel, result.parameters, result.problem) == ("scale", ("block", "unroll"), (4096, 2))
    assert [(configuration.values, configuration.status, configuration.recorded_ms) for configuration in result.configurations] == [
        ((32, 1), "ok", 2.0),
        ((32, 2), "compile", None),
        ((64, 1), "ok", 4.0),
    ]
    assert result.notes == ()


def test_the_times_of_a_configuration_are_milliseconds_in_the_order_of_the_file() -> None:
    first = space(CACHE).configurations[0]
    assert (first.times_ms, first.recorded_ms, first.time_ms) == ((1.5, 2.0, 2.5), 2.0, 2.0)


def test_a_time_that_marks_a_failure_is_not_a_time() -> None:
    result = space(with_entry("96,1", block=32, unroll=1, time=1.7976931348623157e308)).configurations[-1]
    assert (result.status, result.time_ms, result.valid) == ("failed", None, False)


def test_numbers_that_are_not_used_may_be_infinite() -> None:
    assert space(CACHE | {"objective": float("inf")}) == space(CACHE)


def test_a_compressed_cache_is_read() -> None:
    assert read(gzip.compress(json.dumps(CACHE).encode(), mtime=0)) == space(CACHE)


def test_a_cache_that_was_not_closed_is_read_with_a_note() -> None:
    text = json.dumps(CACHE, indent=0)
    result = read(text.rstrip("}\n").encode() + b"},\n")
    assert result.configurations == space(CACHE).configurations
    assert result.notes == ("the cache is not closed: the tuning run was not finished, or the file is truncated",)


def test_a_cache_truncated_within_a_line_loses_this_configuration_with_a_note() -> None:
    lines = [f'"{key}": {json.dumps(entry)}' for key, entry in CACHE["cache"].items()]
    head = json.dumps({key: value for key, value in CACHE.items() if key != "cache"})[:-1]
    result = read(f'{head}, "cache": {{\n{lines[0]},\n{lines[1]},\n{lines[2][:30]}'.encode())
    assert [configuration.values for configuration in result.configurations] == [(32, 1), (32, 2)]
    assert "truncated within a configuration" in result.notes[0]


@pytest.mark.parametrize(
    ("document", "note"),
    [
        (with_entry("32,1", block=64), "the key of a configuration contradicts its values"),
        (with_entry("32,1", time=2.1), "is not the mean of its runs"),
        (with_entry("96,1", block=96, unroll=1, time=1.0), "a value outside the domain of its parameter"),
        (with_entry("64,1", time=None), "has runs, but no time"),
    ],
)
def test_a_contradiction_within_a_cache_is_a_note(document: object, note: str) -> None:
    assert any(note in text for text in space(document).notes)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (with_entry("32,1", time=-1.0), "time: must be a time above 0, not -1"),
        (with_entry("32,1", time=0), "must be a time above 0, not 0"),
        (with_entry("32,1", time=float("nan")), "must be a number from -1e+18 to 1e+18, not nan"),
        (with_entry("32,1", time=float("inf")), "not inf"),
        (with_entry("32,1", times=[True]), "times[0]: must be a number from -1e+18 to 1e+18, not True"),
        (with_entry("32,1", times="x"), "times: must be an array"),
        (with_entry("32,1", block=[1]), "block: must be a number from -1e+18 to 1e+18, not [1]"),
        (CACHE | {"tune_params_keys": ["block", "block"]}, "the names of the parameters, without duplicates"),
        (CACHE | {"tune_params_keys": ["block", "other"]}, "the parameter 'other' is missing"),
        (CACHE | {"cache": []}, "cache: must be an object"),
        (CACHE | {"kernel_name": "a\x1b[0m"}, "kernel_name: must be a name, not 'a?[0m'"),
    ],
)
def test_a_cache_with_an_invalid_time_or_name_is_refused(document: object, problem: str) -> None:
    error = refused(json.dumps(document).encode())
    assert (error.code, problem in error.message) == ("bad-recording", True), error.message


@pytest.mark.parametrize(
    "data",
    [
        b"{" * 100_000,
        b"[" * 100_000,
        b'{"cache": ' + b"1" * 10_000 + b"}",
        b'{"a": 1, "a": 2}',
        b'{"cache": {}',
        b"{\xff}",
        b'{"a": "\0"}',
        gzip.compress(b"{}", mtime=0)[:-3],
        gzip.compress(b"{}", mtime=0)[:-8] + bytes(8),
        b"\x1f\x8b\x08\x00 no gzip",
    ],
)
def test_hostile_json_is_refused(data: bytes) -> None:
    assert refused(data).code == "bad-recording"


def test_a_compressed_file_that_holds_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sassan.recorded.documents.LIMIT", 1 << 20)
    assert "contains more than 1 MiB" in refused(gzip.compress(bytes(2 << 20), mtime=0)).message


def test_json_of_another_kind_is_unknown() -> None:
    assert refused(b'{"a": 1}').code == "unknown-recording"


def test_results_in_the_t4_format_have_their_unit() -> None:
    result = space(T4)
    assert [(configuration.values, configuration.times_ms, configuration.status) for configuration in result.configurations] == [
        ((32,), (2.0, 3.0), "ok"),
        ((64,), (), "runtime"),
        ((96,), (), "correctness"),
    ]
    assert (result.device.name if result.device else "", result.notes) == ("Synthetic A100", ())


def test_t4_results_without_a_unit_are_milliseconds_with_a_note() -> None:
    result = space({"results": T4["results"]})
    assert result.configurations[0].times_ms == (2000.0, 3000.0)
    assert "milliseconds are assumed" in result.notes[0]


def test_the_unit_of_a_measured_time_is_that_of_the_runs() -> None:
    measured = T4["results"][0] | {"measurements": [{"name": "time", "value": 2.5, "unit": "s"}]}
    assert space({"results": [measured]}).configurations[0].times_ms == (2e6, 3e6)


def test_a_measured_time_serves_where_there_are_no_runs() -> None:
    measured = T4["results"][0] | {"times": {}, "measurements": [{"name": "time", "value": 2.5, "unit": "ms"}]}
    result = space({"results": [measured]}).configurations[0]
    assert (result.times_ms, result.time_ms, result.valid) == ((), 2.5, True)


def test_t4_results_that_do_not_say_whether_they_are_valid_are_noted() -> None:
    result = {key: value for key, value in T4["results"][0].items() if key != "invalidity"}
    assert "validity or correctness of" in space(T4 | {"results": [result]}).notes[0]


def test_t4_results_with_an_unknown_unit_are_refused() -> None:
    assert "unknown or contradictory units" in refused(json.dumps(T4 | {"metadata": {"timeunit": "fortnights"}}).encode()).message


def test_t4_results_of_different_parameters_are_refused() -> None:
    other = T4["results"][1] | {"configuration": {"tile": 1}}
    assert "parameters differ" in refused(json.dumps({"results": [T4["results"][0], other]}).encode()).message


def test_results_of_ktt_have_times_and_sizes() -> None:
    result = space(KTT)
    first, second = result.configurations
    assert (result.kernel, result.parameters, result.notes) == ("scale", ("block", "ratio"), ())
    assert (first.values, first.recorded_ms, first.grid, first.block) == ((32, 0.5), 1.6, (128, 1, 1), (32, 1, 1))
    assert (second.status, second.time_ms) == ("ValidationFailed", None)


def test_global_sizes_of_opencl_count_threads_and_give_no_grid() -> None:
    result = space(KTT | {"Metadata": KTT["Metadata"] | {"GlobalSizeType": "OpenCL"}})
    assert (result.configurations[0].grid, result.configurations[0].block) == (None, (32, 1, 1))


def test_a_total_of_ktt_that_is_not_its_sum_is_a_note() -> None:
    wrong = KTT["Results"][0] | {"TotalDuration": 1700.0}
    assert "is not the sum of its computations" in space(KTT | {"Results": [wrong]}).notes[0]


def test_results_of_several_kernels_are_refused() -> None:
    other = KTT["Results"][1] | {"KernelName": "other"}
    assert "the results are of 2 kernels" in refused(json.dumps(KTT | {"Results": [KTT["Results"][0], other]}).encode()).message
