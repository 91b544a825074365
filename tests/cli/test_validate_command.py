"""`sassan validate`: the table, the JSON, the status, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

import ncu_report
from cli.shell import SAMPLES, Sassan, assert_refused
from json_schemas import violations
from sassan.frontend.cubin.tools import tools
from silicon import silicon

CUBIN = SAMPLES / "sm_80" / "saxpy.cubin"
needs_nvdisasm = pytest.mark.skipif(
    not any(80 in tool.reads for tool in tools("nvdisasm")), reason="no nvdisasm that reads sm_80 is installed"
)
pytestmark = needs_nvdisasm

TABLE = "kernel,grid,block,time_us\nsaxpy,1024,256,{}\n"
GPU = ("--sms", "108", "--clock", "1410")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "run.ncu-rep"
    path.write_bytes(ncu_report.report(replace(ncu_report.Launch(), cycles=1000.0, time_ns=709.0)).data)
    return path


def table(folder: Path, time: str) -> Path:
    path = folder / "times.csv"
    path.write_text(TABLE.format(time))
    return path


def test_a_report_holds_the_code_that_it_is_compared_with(report: Path, sassan: Sassan):
    result = sassan("validate", report)
    assert (result.status, result.err) == (0, "")
    head, row, *_ = result.out.splitlines()
    assert head.split() == ["kernel", "grid", "block", "measured", "bound", "ratio", "estimate", "executions", "gaps"]
    assert row.split()[:4] == ["saxpy", "1024x2x1", "256x1x1", "1000"]
    assert row.endswith("10 equal")
    assert "1 launch, 1 of them with a bound (control model) and a measurement, in cycles; bound over measurement: median " in result.out


@pytest.mark.parametrize("part", ["bound", "estimate"])
def test_the_schema_admits_no_bound_or_estimate_without_cycles(part: str, report: Path, sassan: Sassan):
    document = sassan("validate", report, "--gpu", "A100-SXM4-80GB", "--json").document
    assert document["launches"][0][part]["cycles"] > 0
    document["launches"][0][part]["cycles"] = None
    assert violations("validate", document) != []


def test_a_bound_below_a_measurement_is_status_1_and_named(tmp_path: Path, sassan: Sassan):
    result = sassan("validate", table(tmp_path, "1000"), CUBIN, *GPU)
    assert result.status == 1
    assert (
        "refuted by measurements (a defect of sassan, or of an assumption below):\n  - saxpy: measured 1410000 cycles, above the bound "
        in result.out
    )


def test_impossible_executions_are_status_1(tmp_path: Path, sassan: Sassan):
    path = tmp_path / "run.ncu-rep"
    counts = {0: ncu_report.WARPS + 1}
    path.write_bytes(ncu_report.report(replace(ncu_report.Launch(), cycles=1000.0, time_ns=709.0, counts=counts)).data)
    result = sassan("validate", path)
    assert result.status == 1
    assert f"saxpy 0x0000: executed {ncu_report.WARPS + 1} times by warps, but the graph allows {ncu_report.WARPS}" in result.out


def test_the_document_has_the_keys_of_the_contract(report: Path, sassan: Sassan):
    document = sassan("validate", report, "--json").document
    (launch,) = document["launches"]
    assert set(launch) >= {"kernel", "grid", "block", "measured", "bound", "estimate", "counts", "gaps"}
    assert launch["measured"] == {"cycles": 1000.0, "us": 0.709, "instructions": 10 * ncu_report.WARPS}
    assert launch["counts"] == {"checked": 10, "equal": 10, "above": [], "consistent": True, "why": ""}
    assert document["summary"]["n"] == 1
    assert set(document["summary"]) == {"n", "below", "ratio_median", "mape", "tau", "estimate"}
    assert launch["estimate"] is None  # no product has the name of the device


def test_an_estimate_stands_beside_the_bound_where_the_gpu_is_known(tmp_path: Path, sassan: Sassan):
    document = sassan("validate", table(tmp_path, "100"), CUBIN, "--gpu", "A100-PCIE-40GB", "--json").document
    (launch,) = document["launches"]
    assert set(launch["estimate"]) == {"cycles", "us", "bound_by"}
    assert document["summary"]["estimate"]["mape"] == pytest.approx(abs(launch["estimate"]["us"] / launch["measured"]["us"] - 1), abs=0.001)


def test_a_time_needs_a_clock_and_a_grid_its_gpu(tmp_path: Path, sassan: Sassan):
    result = sassan("validate", table(tmp_path, "1000"), CUBIN)
    assert result.status == 0
    assert "pass --sms N" in result.out
    assert "pass --clock MHZ" in result.out


def test_a_kernel_that_is_nowhere_is_a_gap(tmp_path: Path, sassan: Sassan):
    result = sassan("validate", table(tmp_path, "1000"), *GPU)
    assert result.status == 0
    assert "the inputs have no kernel saxpy: pass the cubin or program that contains it" in result.out


def test_what_a_recording_contradicts_itself_in_is_said(tmp_path: Path, sassan: Sassan):
    path = tmp_path / "run.ncu-rep"
    launch = replace(ncu_report.Launch(), changed={"smsp__inst_executed.sum": 7.0})
    path.write_bytes(ncu_report.report(launch).data)
    assert sassan("validate", path).err.startswith(f"note: {path}: ")


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("--model", "unit"), 2, "usage"),
        (("-o", "x.pdf"), 2, "output-format"),
        (("none.cubin",), 3, "missing-file"),
        (("--launches", "none.toml"), 3, "launches-file"),
    ],
)
def test_what_means_nothing_is_refused(arguments: tuple[str, ...], status: int, code: str, report: Path, sassan: Sassan):
    result = sassan("validate", report, *arguments)
    assert_refused(result, status)
    assert result.codes == [code]


def test_a_tuning_space_is_refused_with_what_to_do(tmp_path: Path, sassan: Sassan):
    path = tmp_path / "cache.json"
    path.write_text(
        '{"device_name": "A", "kernel_name": "k", "problem_size": [1], "tune_params_keys": ["x"], "tune_params": {"x": [1]},'
        ' "objective": "time", "cache": {"1": {"x": 1, "time": 2.0, "times": [2.0]}}}'
    )
    result = sassan("validate", path)
    assert_refused(result, 2)
    assert result.codes == ["no-launches"]


def test_garbage_is_refused(tmp_path: Path, sassan: Sassan):
    path = tmp_path / "x"
    path.write_bytes(b"\0\1\2")
    assert_refused(sassan("validate", path), 3)


def test_a_real_report_has_the_counts_of_the_path_taken(tmp_path: Path, sassan: Sassan):
    facts = tmp_path / "facts.toml"
    facts.write_text('[external.vprintf]\ncalls = "never"\n')
    document = sassan("validate", silicon("ncu/manual_nvtx.ncu-rep"), "--bounds", facts, "--json").document
    counts = {launch["kernel"]: launch["counts"] for launch in document["launches"]}
    assert {name: (check["checked"], check["equal"], check["above"]) for name, check in counts.items()} == {
        "_Z16init_data_kerneliPd": (13, 13, []),
        "_Z12daxpy_kernelidPdS_": (15, 15, []),
        "_Z20check_results_kernelidPd": (28, 28, []),
    }
