"""Names are data: whatever files, folders and functions are called, no other program sees it, and no shell runs it."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from budget import FULL
from cli.shell import SAMPLES, Sassan
from sassan.compilers import assemble
from sassan.compilers.source import compiled
from sassan.errors import SassanError
from sassan.evolve.compilation import compilers
from sassan.evolve.compilation.children import CompileProblem
from sassan.frontend.cubin.extract import cubins
from sassan.frontend.cubin.tools import tools
from sassan.frontend.image import Image
from sassan.integrations import nvcc
from sassan.integrations.gpu_code import is_host_only
from sassan.names import demangled
from sassan.record.images import _ptx_of
from sassan.record.library import library

RUN = "touch PWNED"
EVIL = f"-a$({RUN})`{RUN}`\"'; {RUN} ;${{IFS}}&|<b>\n\x1b[31m\u202e\udcff"
LONG = "/".join(["d" * 240] * 15)
CUBIN = SAMPLES / "sm_75" / "saxpy.cubin"
LISTING = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
FATBIN = b"\x50\xed\x55\xba" + bytes(60)
reads = pytest.mark.skipif(not tools("nvdisasm") or not tools("cuobjdump"), reason="no nvdisasm and cuobjdump are installed")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="names of files are bytes on POSIX only")

STAND_IN = """#!/bin/sh
# Hands its input to a shell between double quotes, as nvcc does, after its own folder.
for last; do :; done
sh -c "cat \\"$PWD/$last\\" > /dev/null"
cp '{cubin}' made.cubin && echo > source.ptx && echo 'made.cubin : source.cu' > read.d
"""


@dataclass
class Seen:
    """The words of every process that was started, and its folder."""

    words: list[str] = field(default_factory=list)
    on: bool = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.on and event == "subprocess.Popen":
            _, words, folder, _ = arguments
            self.words += [*map(os.fsdecode, words), os.fsdecode(folder or "")]  # type: ignore[arg-type, call-overload]


SEEN = Seen()
sys.addaudithook(SEEN)


@pytest.fixture(params=[EVIL, LONG] if FULL else [EVIL], ids=["characters", "length"][: 1 + FULL])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of such a name: that of the input, of temporary files and of the caches."""
    folder = tmp_path / request.param
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(folder) if request.param == EVIL else None)
    monkeypatch.setenv("SASSAN_CACHE", str(folder))
    SEEN.words, SEEN.on = [], True
    yield folder
    SEEN.on = False
    assert SEEN.words
    assert not [word for word in SEEN.words if RUN in word or "d" * 240 in word]
    assert not list(tmp_path.rglob("PWNED"))
    assert not Path("PWNED").exists()


def refused(function: Callable[[], object]) -> None:
    with pytest.raises((SassanError, CompileProblem)):
        function()


def test_nvcc_is_given_a_source_of_another_name(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text(STAND_IN.format(cubin=CUBIN))
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    source = place / "x`touch PWNED`.cu"
    source.write_text("__global__ void k() {}\n")
    assert compiled(str(source), "sm_75", cached=False).cubin == CUBIN.read_bytes()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc is installed")
def test_messages_of_nvcc_name_the_users_file(place: Path, sassan: Sassan):
    source = place / "k$(touch PWNED).cu"
    source.write_text('#include "k.h"\n__global__ void k(int *x) { x[0] = WRONG; }\n')
    (place / "k.h").write_text("#define WRONG y\n")
    result = sassan("analyze", source, "--arch", "sm_80")
    assert result.codes == ["compile-failed"]
    assert "k$(touch PWNED).cu:2:1" in result.err
    assert 'identifier "y" is undefined' in result.err
    assert all(map(str.isprintable, result.err.splitlines()))


@reads
def test_the_tools_of_cubins_are_given_plain_names(place: Path, sassan: Sassan):
    shutil.copy(CUBIN, place / "x.cubin")
    assert sassan("strings", place / "x.cubin", "--no-cache").status == 0
    fatbin = Image(str(place), FATBIN)
    refused(lambda: cubins(fatbin))
    refused(lambda: _ptx_of(fatbin))
    (place / "x.fatbin").write_bytes(FATBIN)
    assert not is_host_only(place / "x.fatbin")


@pytest.mark.skipif(not tools("ptxas"), reason="no ptxas is installed")
def test_ptxas_is_given_plain_names(place: Path):
    refused(lambda: assemble(b"none", arch="sm_80", name=str(place)))
    tool = tools("ptxas")[0]
    refused(lambda: compilers.ptxas(compilers.InstalledCompiler(tool.path, tool.version, ""), "none", ("-arch=sm_80",), 60))


def test_drawings_and_pages_are_given_plain_names(place: Path, sassan: Sassan):
    function = f"f{EVIL.replace(chr(10), '')}".encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\x1b", "")
    (place / "x.sass").write_text(LISTING.read_text().replace("saxpy", function))
    for command, output in (("cfg", "x.svg"), ("report", "x.html")):
        result = sassan(command, place / "x.sass", "-o", place / output)
        assert result.status == 0, result.err
        assert all(map(str.isprintable, result.err.splitlines()))


def test_solvers_are_given_plain_names(place: Path, sassan: Sassan):
    (place / "x.sass").write_text(LISTING.read_text().replace("saxpy", f"f$({RUN})"))
    assert sassan("ipet", place / "x.sass", "--solve", "cbc").status == 0


@pytest.mark.slow
def test_a_recorded_program_and_what_it_loads_are_run_by_no_shell(
    place: Path, sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed")
    made = library(tmp_path / "library")
    assert made == tmp_path / "library"  # the loader would split the name of the cache
    SEEN.on = False  # what the user typed is started as it was typed
    monkeypatch.delenv("SASSAN_CACHE")  # the library that all tests share
    shutil.copy(shutil.which("true") or "", place / "program")
    assert sassan("record", "-o", tmp_path / "x.toml", "--", place / "program").codes == ["no-launches"]


def test_a_mangled_name_is_demangled_as_data(place: Path):
    demangled("_Z" + "S0_" * (50 + len(str(place))))
    assert place


HANDED = [
    ["-c", f"a$({RUN}).cu"],
    ["-c", "a.cu", "-o", f"`{RUN}`.o"],
    ["-c", "a.cu", "-odir", 'x"'],
    ["-c", "a.cu", "-D", f"X=$({RUN})"],
    ["-c", "a.cu", f"-DX=`{RUN}`"],
    ["-c", "a.cu", "-I", f"$({RUN})"],
    ["-c", "a.cu", "-Xcompiler", f"-DX=1;{RUN};"],
    ["-c", "a.cu", f"-Xptxas=|{RUN}|"],
    ["-c", "a.cu", "-Xnvlink", f"-v\n{RUN}"],
    ["-c", "a.cu", "-e", f'";{RUN};"'],
    ["-c", "a.cu", f'--frandom-seed="&{RUN}&"'],
    ["a.cu", f"-lm;{RUN};"],
    ["a.cu", "-Xlinker", f"-rpath,\\\\;{RUN}"],
    ["-c", "a.cu", f"-Xcompiler=-DX=$({RUN})"],
    ["-c", "a.cu", f"-U\\\\$({RUN})"],
    ["-c", "a.cu", "-optf", "options"],
]


@pytest.mark.parametrize("words", HANDED, ids=lambda words: words[-1])
def test_a_name_that_nvcc_would_run_is_refused(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "options").write_text(f"-DX=$({RUN})")
    (tmp_path / "nvcc").write_text('#!/bin/sh\nsh -c "echo \\"$*\\""\n')
    (tmp_path / "nvcc").chmod(0o755)
    with pytest.raises(SassanError, match="hands"):
        nvcc.run(nvcc.task([str(tmp_path / "nvcc"), *words], {}))
    assert not Path("PWNED").exists()


def test_names_and_macros_that_nvcc_quotes_are_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nvcc").write_text("#!/bin/sh\nexit 7\n")
    (tmp_path / "nvcc").chmod(0o755)
    words = ["-c", "a;b.cu", "-DX=a<b>;", "-D", "X=a&b", "-I", "a&b", "-Ia|b", "-isystem=a;b", "-o", "a;b.o", "-Xcompiler", "-DX=\\<a.h\\>"]
    assert nvcc.run(nvcc.task([str(tmp_path / "nvcc"), *words], {})) == 7
