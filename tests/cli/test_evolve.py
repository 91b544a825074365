"""`sassan evolve`: what it finds and writes, what stops nothing, what it refuses, and that an interrupt loses nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from budget import PATIENCE, whole
from cli.shell import SAMPLES, assert_refused
from evolving import CONFIG, PTX, config_file, copying, need_nvrtc, ptxas, toy
from sassan.cli.commands.evolve import progress_text
from sassan.errors import MissingToolError
from sassan.evolve import bench, report
from sassan.evolve.cache import program
from sassan.evolve.compilation import compilers
from sassan.evolve.compilation.compile import CompileResult, CompileStatus
from sassan.evolve.search import SearchProgress
from sassan.extras import install

pytestmark = pytest.mark.slow

pytest.importorskip("deap", reason="the extra 'evolve' is not installed")
pytest.importorskip("matplotlib", reason="the extra 'evolve' is not installed")
PTX_CONFIG = """\
[kernel]
source = "saxpy.ptx"
arch = "sm_80"
function = "saxpy"
[launch]
block = ["BLOCK"]
grid = ["1024 / BLOCK"]
[[gene]]
launch = "BLOCK"
values = [256, 64]
[[gene]]
flag = "-Xptxas"
values = [false, "-O0", "-O2"]
[cost]
objectives = ["grid"]
[search]
population = 4
budget = 6
compile_seconds = 60
allow_inexact = true
baseline = false
"""
MEASURE = '[measure]\narguments = [{ kind = "floats" }]\n[cost]\nobjectives = ["measured"]\n'


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Return a cache for all tests that do not ask what is in it: what one compiled and bounded costs the next one nothing."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(tmp_path, monkeypatch, cache):
    """Return a folder to work in."""
    monkeypatch.setenv("SASSAN_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def own_cache(folder, monkeypatch):
    """Let a test begin with an empty cache."""
    monkeypatch.setenv("SASSAN_CACHE", str(folder / "cache"))


class Undrawn:
    """A picture that is written and costs nothing: searches with NVRTC draw theirs."""

    def render(self, form: str) -> bytes:
        return form.encode()


@pytest.fixture
def fake(folder, monkeypatch):
    """Return the configuration of a kernel whose ptxas is a program of ours; its search draws no picture."""
    monkeypatch.setattr(report, "convergence", lambda *_: Undrawn())
    ptxas(folder / "bin", copying(SAMPLES / "sm_80" / "saxpy.cubin"))
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return config_file(folder, PTX_CONFIG, PTX, "saxpy.ptx")


@pytest.fixture
def compilers_found(monkeypatch):
    """Have the compilers found, which nobody asks for anything."""
    monkeypatch.setattr("sassan.evolve.run.tools_of", lambda _: compilers.Tools())


def files(folder: Path) -> dict[str, bytes]:
    """Return what a search has written."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_configuration_that_costs_less_than_the_default_is_found(sassan, folder):
    need_nvrtc()
    result = sassan("evolve", config_file(folder), "--executor", "serial", "--json")
    assert result.status == 0
    document = result.document
    assert document["best"]["costs"] < document["default"]["costs"]
    assert [loop["bound"] for loop in document["default"]["loops"]] == [11]
    assert document["best"]["loops"] != document["default"]["loops"]
    counts = document["counts"]
    assert counts["evaluated"] == 8 == counts["compiled"] + counts["failed"]
    assert min(counts["failed"], counts["gap"], counts["bounded"]) > 0
    assert document["random_search"]["evaluated"] == 8
    names = sorted(path.name for path in (folder / "tiny.evolved").iterdir())
    assert names == ["best.cubin", "convergence.png", "convergence.svg", "default.cubin", "result.json", "state.json"]


def test_the_estimate_of_a_gpu_is_an_objective(sassan, folder):
    need_nvrtc()
    text = CONFIG.replace("grid = [4]", 'grid = [4000]\ngpu = "A100-PCIE-40GB"') + '[cost]\nobjectives = ["estimate"]\n'
    result = sassan("evolve", config_file(folder, text), "--executor", "serial", "--budget", "2", "--json")
    assert result.status == 0, result.err
    document = result.document
    assert document["best"]["numbers"]["estimate"] == document["best"]["costs"][0]
    assert document["best"]["bound_by"]
    assert document["best"]["numbers"]["grid"] is None
    assert any("on A100-PCIE-40GB" in text for text in document["assumptions"])


def test_an_estimate_needs_a_gpu(sassan, folder):
    result = sassan("evolve", config_file(folder, CONFIG + '[cost]\nobjectives = ["estimate"]\n'))
    assert_refused(result, 2)
    assert "launch.gpu" in result.err


def test_the_status_shows_that_nothing_is_bounded(sassan, folder):
    need_nvrtc()
    bounded_by_nothing = CONFIG.replace('"GAP"\nvalues = [false, true]', '"GAP"\nvalues = [true, 2]')
    result = sassan("evolve", config_file(folder, bounded_by_nothing), "--executor", "serial", "--budget", "4")
    assert result.status == 3
    assert result.codes == ["gaps"]
    assert (folder / "tiny.evolved" / "result.json").exists()


def test_results_have_the_mode_of_ordinary_files(sassan, fake, folder):
    assert sassan("evolve", fake, "-o", folder / "out", "--executor", "serial").status == 0
    (folder / "plain").write_text("")
    assert (folder / "out" / "best.cubin").stat().st_mode == (folder / "plain").stat().st_mode


def test_a_compiler_that_hangs_crashes_or_refuses_stops_nothing(sassan, fake, folder):
    hanging = (
        PTX_CONFIG.replace('"-O0", ', '"-O0", "-O1", ')
        .replace("population = 4\nbudget = 6", "population = 8\nbudget = 8")
        .replace("compile_seconds = 60", "compile_seconds = 3")
    )
    fake.write_text(hanging)
    result = sassan("evolve", fake, "-o", folder / "out", "-j", "2", "--json")
    assert result.status == 0
    counts = result.document["counts"]
    assert [counts[name] for name in ("evaluated", "bounded", "failed", "hung")] == [8, 2, 4, 2]
    assert result.document["best"]["command"] == "ptxas -arch=sm_80 best.ptx -o best.cubin"
    assert (folder / "out" / "best.ptx").read_text() == PTX


def test_the_report_has_the_result_and_its_assumptions(sassan, fake, folder):
    fake.write_text(PTX_CONFIG.replace(', "-O0", "-O2"', ', "-O3"').replace("= 6\n", "= 4\n"))
    result = sassan("evolve", fake, "-o", folder / "out", "--executor", "serial")
    assert result.status == 0
    assert result.out.startswith("individual")
    assert "best against the default: grid " in result.out
    assert "4 individuals in 1 generation: 4 compiled; 0 failed, 0 exceeded the compile time, 0 with gaps" in result.out
    assert "launched as: block 256 x 1 x 1, grid 4 x 1 x 1\n" in result.out
    assert "no GPU ran the individuals" in result.out
    assert "compared: grid: the whole launch of 1024 / BLOCK blocks of BLOCK threads on 1 SM" in result.out


@whole("a search is resumed in process in unit/evolve, and a batch is killed in test_kills.py")
@pytest.mark.usefixtures("own_cache")
def test_a_search_that_is_killed_and_resumed_ends_as_one_that_was_not(sassan, folder):
    need_nvrtc()
    program.cache_clear()  # the process that is killed looks at the files as they are now
    config = config_file(folder)
    with _started(config, "-j", "2") as process:
        _wait_for_half(folder / "killed" / "state.json", process)
        process.kill()
        process.wait(PATIENCE)
    assert not (folder / "killed" / "result.json").exists()
    assert sassan("evolve", config, "-o", "killed", "--executor", "serial").codes == ["unfinished"]
    assert sassan("evolve", config, "-o", "killed", "--executor", "serial", "--resume").status == 0
    assert sassan("evolve", config, "-o", "whole", "--executor", "serial").status == 0
    assert files(folder / "killed") == files(folder / "whole")


@pytest.mark.usefixtures("own_cache")
def test_an_interrupt_keeps_the_state_and_prints_how_to_continue(fake, folder):
    fake.write_text(PTX_CONFIG.replace('false, "-O0", "-O2"', 'false, "-O1"'))
    with _started(fake, "--executor", "serial") as process:
        _wait_for_half(folder / "killed" / "state.json", process, 0)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert err == "interrupted: the state is in 'killed'; the same command with --resume continues\n"
    assert json.loads((folder / "killed" / "state.json").read_text())["done"] is False


def _started(config: Path, *how: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "sassan", "evolve", str(config), "-o", "killed", *how, "-q"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def _wait_for_half(state: Path, process: "subprocess.Popen[str]", generation: int = 1) -> None:
    """Return when half of a search is done."""
    for _ in range(100 * PATIENCE):
        if state.exists() and json.loads(state.read_text())["generation"] >= generation:
            return
        assert process.poll() is None
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        ("[kernel", [], "bad-config"),
        (CONFIG.replace("budget", "bugdet"), [], "bad-config"),
        (CONFIG, ["--resume"], "bad-state"),
        (CONFIG, ["--budget", "0"], "usage"),
        (CONFIG, ["--scheduler", "tcp://x:1"], "usage"),
    ],
)
@pytest.mark.usefixtures("compilers_found")
def test_a_broken_configuration_or_state_is_refused(sassan, folder, text, options, code):
    result = sassan("evolve", config_file(folder, text), *options)
    assert_refused(result, 2)
    assert result.codes == [code]


def test_a_configuration_that_is_not_there_is_refused(sassan, folder):
    assert_refused(sassan("evolve", folder / "none.toml"), 2)


def test_without_nvrtc_the_install_command_is_named(sassan, folder, monkeypatch):
    monkeypatch.setattr(compilers, "libraries", tuple)
    result = sassan("evolve", config_file(folder))
    assert_refused(result, 4)
    assert (result.codes, install("evolve") in result.err) == (["no-nvrtc"], True)


@pytest.mark.parametrize("module", ["deap", "matplotlib"])
def test_without_the_extra_the_install_command_is_named(sassan, folder, monkeypatch, module):
    monkeypatch.setattr(report, "find_spec", lambda name: None if name == module else name)
    result = sassan("evolve", config_file(folder))
    assert_refused(result, 4)
    assert (result.codes, install("evolve") in result.err) == (["missing-extra"], True)


def test_without_ptxas_an_order_is_refused(sassan, folder, monkeypatch):
    monkeypatch.setattr(compilers, "tools", lambda _: ())
    monkeypatch.setattr(compilers, "_nvrtc", lambda: compilers.InstalledCompiler("nvrtc", "12", "12"))
    result = sassan("evolve", config_file(folder, CONFIG.replace("[search]", "[[gene]]\norder = 8\n[search]")))
    assert_refused(result, 4)
    assert result.codes == ["no-ptxas"]


def test_without_a_gpu_a_measured_cost_is_refused(sassan, fake, monkeypatch):
    def none() -> None:
        raise MissingToolError("no-gpu", "GPU 0 of this machine cannot be used")

    monkeypatch.setattr(bench, "Gpu", none)
    fake.write_text(PTX_CONFIG.replace('[cost]\nobjectives = ["grid"]\n', MEASURE))
    result = sassan("evolve", fake)
    assert_refused(result, 4)
    assert result.codes == ["no-gpu"]


@pytest.mark.parametrize(
    ("before", "after", "message"), [('function = "saxpy"', 'function = "none"', "has no function 'none'"), ("false, ", "", "asked for")]
)
def test_a_default_that_comes_to_nothing_ends_the_search(sassan, fake, before, after, message):
    fake.write_text(PTX_CONFIG.replace(before, after))
    result = sassan("evolve", fake, "--executor", "serial")
    assert_refused(result, 3)
    assert result.codes == ["default-failed"]
    assert message in result.err


def test_a_cubin_that_is_not_the_one_that_was_bounded_is_a_defect(sassan, fake, folder, monkeypatch):
    monkeypatch.setattr(report, "compiled", lambda _: CompileResult(CompileStatus.DONE, b"another"))
    result = sassan("evolve", fake, "-o", folder / "out", "--executor", "serial")
    assert (result.status, result.codes) == (5, ["not-again"])
    assert [path.name for path in (folder / "out").iterdir()] == ["state.json"]


def test_a_search_is_not_resumed_with_another_compiler(sassan, fake, folder):
    assert sassan("evolve", fake, "-o", folder / "out", "--executor", "serial").status == 0
    ptxas(folder / "bin", f"{copying(SAMPLES / 'sm_80' / 'saxpy.cubin')}# another\n")
    result = sassan("evolve", fake, "-o", folder / "out", "--executor", "serial", "--resume")
    assert_refused(result, 2)
    assert result.codes == ["bad-state"]


@pytest.mark.usefixtures("own_cache")
def test_a_result_is_the_same_text_from_the_cache(sassan, fake, folder):
    for name in ("first", "second"):
        assert sassan("evolve", fake, "-o", folder / name, "--executor", "serial").status == 0
    texts = [(folder / name / "result.json").read_text().partition('  "run": ')[0] for name in ("first", "second")]
    assert texts[0] == texts[1]


def test_a_person_sees_the_search_and_the_best_so_far():
    config = toy(objectives=2)
    assert (
        progress_text(config, SearchProgress("evolution", 3, 20, 40, (54.0, 12.0)))
        == "evolution, generation 3: best wcet 54 cycles, registers 12"
    )
    assert progress_text(config, SearchProgress("random search", 3, 1, 40, None)) == "random search: best nothing bounded yet"
