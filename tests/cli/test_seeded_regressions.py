"""Regressions of real compiler output, seeded in ten kernels (samples/gates): caught and explained in every output."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from budget import FULL, some
from cli.shell import SAMPLES, Result, Sassan
from sarif import assert_valid
from sassan.cli import main
from sassan.frontend.cubin.tools import tools

GATES = SAMPLES / "gates" / "sm_80"
KERNELS = ("plus", "minus", "most", "least", "square", "apart", "mean", "scale", "cube", "blend")
CHOSEN = KERNELS if FULL else ("least",)
LAUNCH = '[[launch]]\nkernel = "{}"\ngrid = [{}, 1, 1]\nblock = [256, 1, 1]\nparam = ["param_2=32768", "param_3=6"]\n'
CAUSES = {
    "spill": ("the number of stack accesses grew from 0 to ", " new stack accesses ("),
    "scalar": ("the number of memory accesses grew from ", "LDG.E.128.CONSTANT 2 → 0, LDG.E.CONSTANT 0 → 8 (at gates.cu:12)"),
    "divergent": ("the number of divergent branches grew from ", "one branch became divergent: gates.cu:44"),
    "conflict": ("the number of wasted shared-memory passes grew from 0 to 31", "LDS at gates.cu:37 now takes up to 32 passes (was 1)"),
}
CASES = [(build, bool(place % 2) is not other) for other in (False, True) for place, build in enumerate(CAUSES)]
"""Every regression once, some with a launch, then the other way round."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not any(80 in tool.reads for tool in tools("nvdisasm")), reason="no nvdisasm that reads sm_80 is installed"),
]


class Outputs(NamedTuple):
    """What a check says, and its files for CI systems and reviewers."""

    result: Result
    sarif: str
    junit: str
    summary: str


def launches(blocks: int = 128) -> str:
    return "".join(LAUNCH.format(kernel, blocks) for kernel in CHOSEN)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Path]:
    """Return a function that returns the folder of a project that `init` made of the build as it is."""
    made: dict[bool, Path] = {}

    def call(launched: bool) -> Path:
        if launched not in made:
            folder = made[launched] = tmp_path_factory.mktemp("project")
            shutil.copy(GATES / "as_is.cubin", folder / "k.cubin")
            (folder / "launches.toml").write_text(launches(), "utf-8")
            options = ("--gpu", "A100 PCIe 40GB", "--launches", str(folder / "launches.toml")) if launched else ()
            names = [text for kernel in CHOSEN for text in ("-f", kernel)]
            assert main.run(["init", str(folder / "k.cubin"), "-o", str(folder / "sassan.toml"), "-q", *names, *options]) == 0
        return made[launched]

    return call


def checked(sassan: Sassan, folder: Path, build: str, *options: str) -> Outputs:
    shutil.copy(GATES / f"{build}.cubin", folder / "k.cubin")
    files = [folder / name for name in ("x.sarif", "x.xml", "summary.txt")]
    for file in files:
        file.unlink(missing_ok=True)
    outputs = [str(text) for pair in zip(("--sarif", "--junit", "--summary"), files, strict=True) for text in pair]
    result = sassan("check", "--project", folder / "sassan.toml", "-q", *outputs, *options)
    sarif = json.loads(files[0].read_text("utf-8"))
    assert_valid(sarif)
    texts = " ".join(one["message"]["text"] for one in sarif["runs"][0]["results"])
    junit = " ".join(failure.text or "" for failure in ET.parse(files[1]).getroot().iter("failure"))  # noqa: S314 - our own file
    return Outputs(result, texts, junit, files[2].read_text("utf-8").replace("\\", ""))


@pytest.mark.parametrize(("build", "launched"), CASES if FULL else CASES[: len(CAUSES) : 2])
def test_a_regression_is_caught_and_explained_in_every_output(build: str, launched: bool, sassan: Sassan, project: Callable[[bool], Path]):
    outputs = checked(sassan, project(launched), build)
    assert (outputs.result.status, outputs.result.err) == (1, "")
    caught, cause = CAUSES[build]
    assert all(f":{kernel}:" in outputs.result.out for kernel in CHOSEN)
    for text in (outputs.result.out, *outputs[1:]):
        assert (text.count(caught) >= len(CHOSEN), text.count(cause) >= len(CHOSEN)) == (True, True), text


@pytest.mark.parametrize(("build", "launched"), some([("rewritten", False), ("as_is", False), ("rewritten", True), ("as_is", True)]))
def test_a_benign_rewrite_is_quiet(build: str, launched: bool, sassan: Sassan, project: Callable[[bool], Path]):
    outputs = checked(sassan, project(launched), build)
    assert (outputs.result.status, outputs.result.err, outputs.sarif, outputs.junit) == (0, "", "", "")
    assert outputs.result.out.startswith(f"{len(CHOSEN)} function{'s' if FULL else ''} checked, all pass")


def test_a_grid_that_grew_fails_its_baseline_and_its_limits(sassan: Sassan, project: Callable[[bool], Path]):
    folder = project(True)
    limits = ("--max-us", "100", "--max-total-us", str(100 * len(CHOSEN)), "--max-grid-cycles", "100000")
    assert checked(sassan, folder, "as_is", *limits).result.status == 0
    (folder / "launches.toml").write_text(launches(12800), "utf-8")
    try:
        outputs = checked(sassan, folder, "as_is", *limits)
    finally:
        (folder / "launches.toml").write_text(launches(), "utf-8")
    assert outputs.result.status == 1
    for text in (outputs.result.out, *outputs[1:]):
        assert "the bound of a grid of 12800 blocks (control model) grew from " in text
        assert "what differs: --grid 128,1,1, now 12800,1,1" in text
        assert "max-us: the launch of 12800 x 1 x 1 blocks takes up to " in text or text is outputs.sarif
        assert f"above the limit {100 * len(CHOSEN)} of --max-total-us: " in text
        assert "above the limit 100000 of --max-grid-cycles" in text


def test_launches_of_other_code_are_taken_for_this_build(sassan: Sassan, project: Callable[[bool], Path]):
    folder = project(True)
    (folder / "launches.toml").write_text(launches().replace("param = ", f'code = "sha256:{"0" * 64}"\nparam = '), "utf-8")
    try:
        outputs = checked(sassan, folder, "as_is")
    finally:
        (folder / "launches.toml").write_text(launches(), "utf-8")
    assert outputs.result.status == 0
    assert "; launches were recorded of other code: " in outputs.result.out
    assert "- launches were recorded of other code: " in outputs.summary
