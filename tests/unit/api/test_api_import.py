"""`import sassan` itself: quick, complete, and no more than it says."""

import runpy
import subprocess
import sys
import warnings

import pytest

import sassan
from budget import PATIENCE
from cli.shell import ROOT

pytestmark = pytest.mark.slow


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout


def test_importing_sassan_imports_nothing_else_of_it():
    code = "import sys, sassan; sassan.__version__; print(*[one for one in sys.modules if one.startswith('sassan')])"
    assert python(code).split() == ["sassan"]


def test_every_public_name_is_there():
    assert [name for name in sassan.__all__ if getattr(sassan, name, None) is None] == []
    assert set(sassan.__all__) <= set(dir(sassan))


def test_an_import_of_a_package_does_not_replace_the_function_of_its_name():
    shared = sorted({path.stem for path in (ROOT / "sassan").iterdir()} & set(sassan.__all__))
    assert shared == ["estimate", "launches"]
    code = f"import sassan; [(__import__(f'sassan.{{name}}'), print(type(getattr(sassan, name)).__name__)) for name in {shared} * 2]"
    assert python(code).split() == ["function"] * 2 * len(shared)


def test_a_name_that_is_not_public_is_none():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sassan.nothing  # noqa: B018 - reading it is the test


def test_the_example_of_the_library_runs(capsys: pytest.CaptureFixture[str]):
    warnings.simplefilter("error")  # pytest puts the filters back
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "docs" / "tutorial" / "library.py"), run_name="__main__")
    out, err = capsys.readouterr()
    assert (ended.value.code or 0, err) == (0, "")
    assert out.splitlines() == [
        "<Kernel 'bfs_step' sm_61: WCET 296> of 16 warps: 2081",
        "worst path: CS2C9LC8L2C9(C3L1C3L1C7L3C5)^11C11",
        "loop at 0x0158: 10 (default)",
        "None ['unbounded-loop']",
        "64 warps are resident: 7793 cycles",
        "8 blocks, 15 edges; the drawing holds the name: True",
        "eight warps: 98",
    ]
