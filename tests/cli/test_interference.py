"""Kernels of Jetson boards under traffic of the CPU: how much longer others measured them to take, beside bounds and estimates.

samples/interference/published.csv has a row for each measurement, and kernels of that kind are beside it. What the CPU moved is not
published: half of DRAM is what an arbiter leaves that takes turns between the CPU and the GPU, and a third what is left where a publication
says that kernels took three times as long.
"""

import csv
from typing import NamedTuple

import pytest

from cli.shell import ROOT, SAMPLES, Sassan
from sassan.frontend.cubin.tools import tools

FOLDER = SAMPLES / "interference"
GUIDE = ROOT / "docs/guides/meet-a-deadline.md"
SOURCES = ("walks", "bwlock", "ecrts")


class Published(NamedTuple):
    """A row of the table."""

    what: str
    alone: float
    interfered: float
    unit: str
    gpu: str
    kernel: str
    launch: tuple[str, ...]
    share: str
    traffic: str
    source: str

    @property
    def slowdown(self) -> float:
        """How many times as long it took."""
        return self.interfered / self.alone


def published() -> list[Published]:
    """Return the rows."""
    with (FOLDER / "published.csv").open(encoding="utf-8") as file:
        return [
            Published(
                row["what"],
                float(row["alone"]),
                float(row["interfered"]),
                row["unit"],
                row["gpu"],
                row["kernel"],
                ("--gpu", row["gpu"], "--block-dim", row["block"], "--grid", row["grid"], "--param", row["parameters"]),
                row["share"],
                row["traffic"],
                row["source"],
            )
            for row in csv.DictReader(file)
        ]


def times(sassan: Sassan, row: Published, share: str) -> tuple[float, float]:
    """Return bound and estimate of the kernel of a row, in cycles, where others leave a share of DRAM."""
    file = FOLDER / "sm_62" / f"{'walk' if row.kernel == 'walk' else 'streams'}.cubin"
    [bound], [expected] = (
        sassan(command, file, "-f", row.kernel, *row.launch, "--dram-share", share, "--json").document["functions"]
        for command in ("analyze", "estimate")
    )
    return bound["grid"]["upper"], expected["estimate"]["cycles"]


READS = any(62 in tool.reads for tool in tools("nvdisasm"))


@pytest.mark.skipif(not READS, reason="no nvdisasm that reads sm_62 is installed")
@pytest.mark.parametrize("row", published(), ids=lambda row: f"{row.what}: {row.kernel}")
def test_a_bound_under_traffic_of_the_cpu_is_above_what_was_measured(row: Published, sassan: Sassan):
    alone, expected = times(sassan, row, "100%")
    interfered, longer = times(sassan, row, row.share)
    if row.unit == "cycles an access":
        accesses = int(row.launch[-1].partition("=")[2])
        assert alone >= accesses * row.alone
        assert interfered >= accesses * row.interfered
        assert interfered / (accesses * row.alone) >= row.slowdown
        return
    assert interfered / expected >= row.slowdown
    assert 1 <= longer / expected <= interfered / expected
    line = f"| {row.traffic} | {row.slowdown:.2f} | {row.share[:-1]} % | {longer / expected:.2f} | {interfered / expected:.2f} |"
    assert any(row.what in text and line in text for text in GUIDE.read_text("utf-8").splitlines()), f"{row.what} {row.kernel} {line}"


def test_every_measurement_names_its_source():
    assert {row.source for row in published()} == set(SOURCES)
