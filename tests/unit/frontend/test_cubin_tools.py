"""How the tools are found, asked and held to limits, with tools that are scripts."""

import sys
from pathlib import Path

import pytest

import cubins
from budget import PATIENCE
from sassan.errors import InputError, MissingToolError
from sassan.extras import install
from sassan.frontend.cubin import disassembly, tools
from sassan.frontend.image import Image
from sassan.system.processes import ToolLimits, ToolProblem, run

ANSWERS = """\
import sys
if sys.argv[1] == "--version":
    print("Cuda compilation tools, release {0}, V{0}.37")
elif sys.argv[1] == "--help":
    print("--base\\n        see '--binary'\\n--binary <SMxy>  (-b)\\n        Allowed values for this option:  {1}.\\n--other\\n  'SM99'")
else:
    {2}
"""
WAITING = "import resource as r, time\nwhile r.getrlimit(r.RLIMIT_AS)[0] == r.RLIM_INFINITY: time.sleep(0.01)\n"
"""A program that begins when it is held to its memory."""
LIMITS = ToolLimits(seconds=PATIENCE, size=1000)


def tool(folder: Path, version: str, reads: str, does: str = "pass") -> Path:
    """Put an nvdisasm into a folder that says of itself what it reads."""
    return cubins.script(folder, "nvdisasm", ANSWERS.format(version, reads, does))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the tools of this machine, and its cache."""
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setattr(tools, "_package_folders", lambda _: [])


def test_a_tool_lists_the_architectures_that_it_supports(tmp_path):
    tool(tmp_path / "path", "13.5", "'SM75','SM90','SM90a','SM120f'")
    assert tools.nvdisasm(90).reads == {75, 90, 120}
    assert tools.nvdisasm(90).version == "13.5.37"


def test_the_first_tool_that_supports_the_architecture_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path / 'new'}:{tmp_path / 'old'}")
    tool(tmp_path / "new", "13.5", "'SM75','SM90'")
    tool(tmp_path / "old", "12.8", "'SM61','SM75'")
    assert (tools.nvdisasm(75).version, tools.nvdisasm(61).version) == ("13.5.37", "12.8.37")


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH"])
def test_a_tool_is_found_where_cuda_is_installed(variable, tmp_path, monkeypatch):
    tool(tmp_path / "cuda" / "bin", "12.8", "'SM61'")
    monkeypatch.setenv(variable, str(tmp_path / "cuda"))
    assert tools.nvdisasm(61).path == str(tmp_path / "cuda" / "bin" / "nvdisasm")


@pytest.mark.parametrize(("package", "below"), [("nvidia", "cu13/bin"), ("triton", "backends/nvidia/bin")])
def test_a_tool_is_found_in_an_installed_wheel(package, below, tmp_path, monkeypatch):
    tool(tmp_path / package / below, "12.8", "'SM61'")
    monkeypatch.setattr(tools, "_package_folders", lambda name: [tmp_path / name])
    assert tools.nvdisasm(61).path == str(tmp_path / package / below / "nvdisasm")


@pytest.mark.parametrize(
    ("sm", "install"),
    [
        (61, "pip install triton==3.3.1"),
        (72, "pip install triton==3.3.1"),
        (75, install("cubin")),
        (120, install("cubin")),
    ],
)
def test_without_a_tool_the_install_command_is_named(sm, install):
    with pytest.raises(MissingToolError) as caught:
        tools.nvdisasm(sm)
    assert (caught.value.code, caught.value.status) == ("nvdisasm-missing", 4)
    assert (caught.value.hint or "").startswith(install)


def test_a_tool_that_does_not_read_the_architecture_is_named_with_what_it_reads(tmp_path):
    tool(tmp_path / "path", "13.5", "'SM75','SM120'")
    with pytest.raises(MissingToolError) as caught:
        tools.nvdisasm(61)
    assert caught.value.message == f"no nvdisasm for sm_61: {tmp_path}/path/nvdisasm (13.5.37) supports sm_75 to sm_120"


def test_without_cuobjdump_the_install_command_is_named():
    with pytest.raises(MissingToolError) as caught:
        tools.cuobjdump()
    assert (caught.value.code, caught.value.hint) == ("cuobjdump-missing", install("cubin"))


@pytest.mark.parametrize("text", ["raise SystemExit(1)", "print('hello')", "import os; os.abort()"])
def test_a_tool_that_does_not_answer_is_none(text, tmp_path):
    cubins.script(tmp_path / "path", "nvdisasm", text)
    assert tools.tools("nvdisasm") == ()


def test_a_file_that_cannot_be_started_is_no_tool(tmp_path):
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "nvdisasm").write_bytes(b"\x7fELF nothing")
    (tmp_path / "path" / "nvdisasm").chmod(0o755)
    assert tools.tools("nvdisasm") == ()


def program(tmp_path: Path, text: str) -> list[str]:
    return [str(cubins.script(tmp_path, "tool", text))]


def test_a_run_returns_what_is_printed(tmp_path):
    assert run(program(tmp_path, "print('x' * 10)"), tmp_path, LIMITS) == b"x" * 10 + b"\n"


def test_a_run_without_an_end_is_stopped(tmp_path):
    with pytest.raises(ToolProblem, match=r"did not finish within 0\.5 s"):
        run(program(tmp_path, "import time; time.sleep(1200)"), tmp_path, ToolLimits(0.5, 1000))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to it")
def test_a_run_that_computes_without_an_end_is_stopped_by_its_processor_time(tmp_path):
    with pytest.raises(ToolProblem, match="took too long"):
        run(program(tmp_path, "while True: pass"), tmp_path, ToolLimits(PATIENCE, 1000, processor=1))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to it")
def test_a_run_that_takes_all_memory_is_stopped(tmp_path):
    with pytest.raises(ToolProblem, match="ended with status 1"):
        run(program(tmp_path, WAITING + "x = bytes(10**9)"), tmp_path, ToolLimits(PATIENCE, 1000, memory=500_000_000))


def test_a_run_that_prints_without_an_end_is_stopped(tmp_path):
    with pytest.raises(ToolProblem, match="more than 1000 bytes"):
        run(program(tmp_path, "while True: print('x')"), tmp_path, LIMITS)


def test_a_crash_is_named_with_its_signal(tmp_path):
    with pytest.raises(ToolProblem, match="crashed with signal 11"):
        run(program(tmp_path, "import os; os.kill(os.getpid(), 11)"), tmp_path, LIMITS)


def test_the_first_fatal_line_of_a_tool_is_repeated(tmp_path):
    text = "import sys; print('note: x', file=sys.stderr); sys.exit('nvdisasm fatal : no good')"
    with pytest.raises(ToolProblem, match="ended with status 1: nvdisasm fatal : no good"):
        run(program(tmp_path, text), tmp_path, LIMITS)


def test_a_tool_that_is_not_there_cannot_be_started(tmp_path):
    with pytest.raises(ToolProblem, match="cannot be started"):
        run([str(tmp_path / "none")], tmp_path, LIMITS)


def test_the_name_of_the_input_reaches_no_command_line(tmp_path):
    tool(tmp_path / "path", "12.8", "'SM61'", "print(sys.argv[1:])")
    text = disassembly.disassemble(Image("; rm -rf $(x) --version", b"\x7fELF"), 61, cached=False)
    assert text == "['-c', 'k.cubin']\n"


def test_a_cubin_that_the_tool_refuses_is_an_input_error(tmp_path):
    tool(tmp_path / "path", "12.8", "'SM61'", "sys.exit('nvdisasm fatal : bad')")
    with pytest.raises(InputError) as caught:
        disassembly.disassemble(Image("k.cubin", b"\x7fELF"), 61, cached=False)
    assert caught.value.code == "nvdisasm-failed"
    assert "nvdisasm fatal : bad" in caught.value.message


def test_limits_grow_with_the_cubin():
    small, large = disassembly.limits(2000), disassembly.limits(1_000_000)
    assert (small.processor, large.processor) == (5, 35)
    assert small.memory is not None
    assert small.memory < 300_000_000


@pytest.mark.parametrize("size", [2000, 1_000_000])
def test_a_busy_machine_may_take_a_minute_for_a_second_and_a_hang_ends(size: int):
    limits = disassembly.limits(size)
    assert limits.processor is not None
    assert 60 * limits.processor <= limits.seconds < float("inf")


def test_the_folder_of_an_installed_package_is_found_without_importing_it(monkeypatch):
    monkeypatch.undo()
    assert [path.name for path in tools._package_folders("elftools")] == ["elftools"]
    assert tools._package_folders("no_such_package_anywhere") == []
