"""Reports of Nsight Compute in the experiment: a row per launch, with the executions of its instructions."""

from pathlib import Path

import pytest

from ncu_report import Launch, report
from sassan.errors import InputError
from scripted import scripted
from silicon import silicon

reports = scripted("silicon_reports")


def test_a_launch_is_a_row_with_bound_measurement_and_counts(tmp_path: Path):
    (tmp_path / "a.ncu-rep").write_bytes(report(Launch()).data)
    (row,) = reports.rows(reports.load(tmp_path / "a.ncu-rep"), "a", "table")
    assert (row.source, row.model, row.block, row.grid) == ("a", "table", "256x1x1", "1024x2x1")
    assert (row.measured_us, row.measured_cycles, row.gaps) == (84.48, 124056.0, "")
    assert (row.counts_checked, row.counts_above) == (10, 0)
    assert row.bound_cycles is not None


def test_a_tuning_space_is_not_a_report(tmp_path: Path):
    (tmp_path / "a.ncu-rep").write_text('{"kernel_name": "k", "tune_params_keys": ["a"], "cache": {}}', encoding="utf-8")
    with pytest.raises(InputError) as refused:
        reports.load(tmp_path / "a.ncu-rep")
    assert refused.value.code == "no-launches"


@pytest.mark.slow
def test_recorded_executions_fit_the_graphs():
    path = Path(silicon("ncu/manual_nvtx.ncu-rep"))
    result = list(reports.rows(reports.load(path), "manual_nvtx", "control"))
    assert [(row.counts_checked, row.counts_equal, row.counts_above, row.counts_consistent) for row in result[:2]] == [
        (13, 13, 0, True),
        (15, 15, 0, True),
    ]
