import signal
from types import SimpleNamespace

import pytest

from budget import PATIENCE
from evolving import KERNEL, need_nvrtc, ptxas
from sassan.errors import MissingToolError
from sassan.evolve.compilation import children, compilers
from sassan.evolve.compilation.children import CompileProblem
from sassan.extras import install


@pytest.fixture
def fake(tmp_path, monkeypatch):
    ptxas(tmp_path / "bin", "open(output, 'wb').write(b'cubin')\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    result = compilers.find(nvrtc=False, ptxas=True).ptxas
    assert result is not None
    return result


def test_the_first_ptxas_on_the_path_is_taken_at_its_word(fake, tmp_path):
    assert (fake.path, str(fake)) == (str(tmp_path / "bin" / "ptxas"), "ptxas 12.9.86")


def test_what_ptxas_writes_is_the_cubin(fake):
    assert compilers.ptxas(fake, "", (), PATIENCE) == b"cubin"


@pytest.mark.parametrize(("option", "message"), [("-O0", "ptxas fatal : asked for"), ("-O2", "the compiler crashed with signal 11")])
def test_a_compiler_that_fails_is_a_result(fake, option, message):
    with pytest.raises(CompileProblem) as caught:
        compilers.ptxas(fake, "", (option,), PATIENCE)
    assert (str(caught.value), caught.value.hung, caught.value.lasting) == (message, False, option == "-O0")


def test_a_compiler_that_hangs_is_ended(fake):
    with pytest.raises(CompileProblem) as caught:
        compilers.ptxas(fake, "", ("-O1",), 0.3)
    assert caught.value.hung


def test_a_compiler_that_writes_nothing_has_failed(tmp_path, monkeypatch):
    ptxas(tmp_path / "bin", "pass\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    result = compilers.find(nvrtc=False, ptxas=True).ptxas
    assert result is not None
    with pytest.raises(CompileProblem, match="the compiler wrote no output"):
        compilers.ptxas(result, "", (), PATIENCE)


@pytest.mark.parametrize("wanted", ["nvrtc", "ptxas"])
def test_a_compiler_that_is_missing_names_the_install_command(monkeypatch, wanted):
    monkeypatch.setattr(compilers, "libraries", tuple)
    monkeypatch.setattr(compilers, "tools", lambda _: ())
    with pytest.raises(MissingToolError) as caught:
        compilers.find(nvrtc=wanted == "nvrtc", ptxas=wanted == "ptxas")
    assert caught.value.code == f"no-{wanted}"
    assert install("evolve") in (caught.value.hint or "")


def test_nvrtc_compiles_cubins_and_ptx_and_reports_errors():
    need_nvrtc()
    result = compilers.find(nvrtc=True, ptxas=False).nvrtc
    assert result is not None
    assert compilers.nvrtc(result, KERNEL, ("-arch=sm_80",), "CUBIN", 60).startswith(b"\x7fELF")
    assert b".target sm_80" in compilers.nvrtc(result, KERNEL, ("-arch=compute_80",), "PTX", 60)
    with pytest.raises(CompileProblem, match="asked for"):
        compilers.nvrtc(result, KERNEL, ("-arch=sm_80", "-DFAIL"), "CUBIN", 60)


def test_one_process_compiles_one_source_after_the_other_and_a_lost_one_is_replaced():
    need_nvrtc()
    result = compilers.find(nvrtc=True, ptxas=False).nvrtc
    assert result is not None

    def cubin() -> bytes:
        return compilers.nvrtc(result, KERNEL, ("-arch=sm_80",), "CUBIN", PATIENCE)

    first = cubin()
    process = children._idle[-1]._process
    with pytest.raises(CompileProblem, match="asked for"):
        compilers.nvrtc(result, KERNEL, ("-arch=sm_80", "-DFAIL"), "CUBIN", PATIENCE)
    assert (cubin(), children._idle[-1]._process.pid) == (first, process.pid)
    process.kill()
    process.wait()
    assert (cubin(), children._idle[-1]._process.pid != process.pid) == (first, True)


def test_a_source_that_takes_too_long_ends_its_process():
    need_nvrtc()
    result = compilers.find(nvrtc=True, ptxas=False).nvrtc
    assert result is not None
    before = len(children._idle)
    with pytest.raises(CompileProblem) as caught:
        compilers.nvrtc(result, KERNEL, ("-arch=sm_80",), "CUBIN", 0.001)
    assert (caught.value.hung, len(children._idle)) == (True, max(0, before - 1))


class SignalError(Exception):
    pass


def _ask(*_):
    raise SignalError


class Interrupted(list):
    """A list of children; a signal comes where one is taken, and where one is put back."""

    def pop(self, *place):
        child = super().pop(*place)
        signal.raise_signal(signal.SIGTERM)
        return child

    def append(self, child):
        signal.raise_signal(signal.SIGTERM)
        super().append(child)


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """The processes that children start: they answer each job at once; SIGTERM raises."""
    program = tmp_path / "answering.py"
    program.write_text("import sys\nfor job in sys.stdin:\n    print('null', flush=True)\n", "utf-8")
    monkeypatch.setattr(children, "library", SimpleNamespace(__file__=str(program)))
    monkeypatch.setattr(children, "_idle", [])
    processes, start = [], children.start

    def starting(*words, **options):
        processes.append(start(*words, **options))
        return processes[-1]

    monkeypatch.setattr(children, "start", starting)
    before = signal.signal(signal.SIGTERM, _ask)
    yield processes
    signal.signal(signal.SIGTERM, before)
    children._end_idle()
    assert all(process.returncode is not None for process in processes)


def test_a_signal_amid_the_start_of_a_child_leaves_none(begun, tmp_path, monkeypatch):
    start = children.start

    def interrupted(*words, **options):
        process = start(*words, **options)
        signal.raise_signal(signal.SIGTERM)
        return process

    monkeypatch.setattr(children, "start", interrupted)
    for run in (lambda: children.answered({}, PATIENCE), lambda: children.executed(["/bin/sleep", "60"], tmp_path, PATIENCE)):
        with pytest.raises(SignalError):
            run()
    assert [process.returncode for process in begun] == [-signal.SIGKILL] * 2


def test_a_signal_where_a_child_is_taken_or_put_back_leaves_none(begun, monkeypatch):
    monkeypatch.setattr(children, "_idle", Interrupted())
    with pytest.raises(SignalError):
        children.answered({}, PATIENCE)
    assert [child._process for child in children._idle] == begun  # it waits for the next job
    with pytest.raises(SignalError):
        children.answered({}, PATIENCE)
    assert ([process.returncode for process in begun], children._idle) == ([-signal.SIGKILL], [])
