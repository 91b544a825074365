"""The examples of searches: Kernel Tuner measures the best estimates first, and Optuna takes the estimate for its objective."""

import json
import subprocess
import sys

import pytest

from budget import PATIENCE
from integrations.programs import SAMPLES, run
from sassan.frontend.cubin.tools import tools

pytestmark = pytest.mark.slow

TIMES = {(1, 16): 2.0, (2, 16): 1.5, (4, 16): 1.0, (1, 32): 0.5, (2, 32): 3.0}
"""Of all pairs of WORK and block_size_x but one, in ms: what the cache of Kernel Tuner says."""


def test_kernel_tuner_measures_the_best_estimates_first(tmp_path):
    pytest.importorskip("kernel_tuner", reason="kernel-tuner is not installed")
    cache, ranking = tmp_path / "cache.json", tmp_path / "ranking.json"
    cache.write_text(json.dumps(_cache()))
    estimated = [({"WORK": 2, "block_size_x": 32}, 1.0), ({"WORK": 4, "block_size_x": 16}, 2.0), ({"WORK": 1, "block_size_x": 16}, None)]
    ranking.write_text(json.dumps({"configurations": [{"parameters": one, "estimate_us": time} for one, time in estimated]}))
    command = [sys.executable, SAMPLES / "tuning" / "kernel_tuner_strategy.py", ranking, cache, "--measure", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["3.0000 ms WORK=2 block_size_x=32", "1.0000 ms WORK=4 block_size_x=16"]
    assert len(lines) == 3


def _cache():
    keys = ["WORK", "block_size_x"]
    rows = {f"{work},{block}": _row(work, block, time) for (work, block), time in TIMES.items()}
    tuned = {"WORK": [1, 2, 4], "block_size_x": [16, 32]}
    known = {"device_name": "T4", "kernel_name": "fir", "problem_size": [128], "objective": "time"}
    return {**known, "tune_params_keys": keys, "tune_params": tuned, "cache": rows}


def _row(work, block, time):
    costs = dict.fromkeys(("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"), 0)
    stamp = "2026-01-01 00:00:00+00:00"
    return {"WORK": work, "block_size_x": block, "time": time, "times": [time], **costs, "timestamp": stamp}


@pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed")
def test_optuna_finds_a_launch_that_is_faster_than_the_plainest(tmp_path):
    pytest.importorskip("optuna", reason="optuna is not installed")
    pytest.importorskip("nvidia.cuda_nvrtc", reason="nvidia-cuda-nvrtc-cu12 is not installed")
    (line,) = run("tuning/optuna_search.py", tmp_path, "3")
    time, _, *choice = line.split()
    assert float(time) > 0
    assert {part.partition("=")[0] for part in choice} == {"BLOCK", "WORK"}
    assert "WORK=1" not in choice, "each output alone reads 32 values for 32 sums"
