from dataclasses import replace

import pytest

from evolving import config_file, copying, ptxas
from samples import SAMPLES
from sassan.errors import InputError, MissingToolError
from sassan.evolve import bench as bench_module
from sassan.evolve.bench import Bench, bench
from sassan.evolve.outcome import GenomeOutcome, OutcomeStatus
from sassan.evolve.run import tools_of
from sassan.evolve.space import config as configurations
from sassan.evolve.space.config import Objective
from sassan.measure import MeasureTask, Timing

CONFIG = """\
[kernel]
source = "saxpy.ptx"
arch = "sm_80"
function = "saxpy"
[launch]
block = [256]
grid = [4]
[[gene]]
flag = "--maxrregcount"
values = [false, 32, 64]
[cost]
objectives = ["wcet", "measured"]
[measure]
runs = 3
arguments = [{ kind = "floats", value = 8 }, { kind = "pointer", value = 8 }, { kind = "int", value = 3 }]
"""
BOUNDED = GenomeOutcome(OutcomeStatus.BOUNDED, (7.0,), {"wcet": 7})


class Device:
    """A GPU that leaves `left` in memory, one after the other, and takes 3, 1 and 2 s."""

    name = "simulated GPU"
    arch = "sm_86"

    def __init__(self, *left: tuple[bytes, ...]) -> None:
        self.left, self.loaded, self.times = list(left), list[MeasureTask](), [3.0, 1.0, 2.0]

    def load(self, task: MeasureTask) -> "Device":
        self.loaded.append(task)
        return self

    def results(self) -> tuple[bytes, ...]:
        if not self.left:
            raise InputError("launch-failed", "CUDA_ERROR_ILLEGAL_ADDRESS")
        return self.left.pop(0)

    def run(self) -> Timing:
        return Timing(self.times.pop(0))

    def close(self) -> None:
        pass


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return a function that makes a bench of a device."""
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    ptxas(tmp_path / "bin", copying(SAMPLES / "sm_80" / "saxpy.cubin"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    config = configurations.read(str(config_file(tmp_path, CONFIG, name="saxpy.ptx")))
    return lambda device, **changes: Bench(replace(config, **changes), tools_of(config), device)


def test_the_measured_cost_is_the_minimum_of_the_runs_after_the_warm_up(made):
    device = Device((b"same",), (b"same",))
    result = made(device)((1,), BOUNDED)
    assert result.costs == (7.0, 1.0)
    assert result.numbers["measured"] == 1.0
    assert (device.loaded[0].kernel, device.loaded[0].grid, device.loaded[0].block) == ("saxpy", (4, 1, 1), (256, 1, 1))


def test_an_individual_that_leaves_something_else_is_unequal(made):
    result = made(Device((b"same",), (b"other",)))((1,), BOUNDED)
    assert (result.status, result.fitness(2)) == (OutcomeStatus.UNEQUAL, (float("inf"), float("inf")))


def test_an_individual_that_cannot_run_is_refused(made):
    result = made(Device((b"same",)))((1,), BOUNDED)
    assert (result.status, result.why) == (OutcomeStatus.REFUSED, "CUDA_ERROR_ILLEGAL_ADDRESS")


def test_what_is_not_bounded_does_not_run(made):
    device = Device()
    failed = GenomeOutcome(OutcomeStatus.FAILED, why="asked for")
    assert made(device)((1,), failed) == failed
    assert device.loaded == []


@pytest.mark.parametrize(
    ("float_", "integer", "status"),
    [("3f800001", "01", OutcomeStatus.BOUNDED), ("3f900000", "01", OutcomeStatus.UNEQUAL), ("3f800000", "02", OutcomeStatus.UNEQUAL)],
)
def test_rounding_may_differ_where_it_is_allowed_and_integers_never(made, float_, integer, status):
    left = (bytes.fromhex("3f800000")[::-1], b"\x01")
    device = Device(left, (bytes.fromhex(float_)[::-1], bytes.fromhex(integer)))
    assert made(device, allow_inexact=True, objectives=(Objective.WCET,))((1,), BOUNDED).status is status


@pytest.mark.parametrize(("arch", "runs"), [("sm_80", True), ("sm_86", True), ("sm_90", False), ("sm_75", False)])
def test_a_gpu_runs_cubins_of_its_major_version(made, monkeypatch, arch, runs):
    device = Device()
    device.arch = arch
    monkeypatch.setattr(bench_module, "Gpu", lambda: device)
    config = replace(made(device).config, objectives=(Objective.WCET,))
    assert (bench(config, made(device).tools) is not None) == runs


def test_a_measured_cost_needs_a_gpu(made, monkeypatch):
    def none():
        raise MissingToolError("no-gpu", "GPU 0 of this machine cannot be used")

    monkeypatch.setattr(bench_module, "Gpu", none)
    prepared = made(Device())
    with pytest.raises(MissingToolError):
        bench(prepared.config, prepared.tools)
    assert bench(replace(prepared.config, objectives=(Objective.WCET,)), prepared.tools) is None
