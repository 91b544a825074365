"""Programs, libraries and fatbins: their cubins are read in a fixed order, with cuobjdump where it is needed."""

import sys
from pathlib import Path

import pytest

import cubins
from budget import some
from samples import SAMPLES
from sassan.errors import InputError, MissingToolError
from sassan.frontend import load, read
from sassan.frontend.cubin import extract, tools
from sassan.frontend.image import Image

COPIES = """\
import pathlib, shutil, sys
if sys.argv[1:] == ["--version"]:
    print("Cuda compilation tools, release 12.8, V12.8.55")
elif sys.argv[1] != "--help":
    here = pathlib.Path(__file__).parent
    (here / "asked").write_text(" ".join(sys.argv[1:3]))
    for cubin in (here / "inside").iterdir():
        shutil.copy(cubin, cubin.name)
"""


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder with a disassembler that knows two samples and a cuobjdump that takes out what lies in `inside`."""
    folder = cubins.recorder(tmp_path / "tools", "sm_61/saxpy", "sm_90/saxpy")
    cubins.script(folder, "cuobjdump", COPIES)
    (folder / "inside").mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(tools, "_package_folders", lambda _: [])
    return folder


def test_every_cubin_is_read_in_the_order_of_its_number(found):
    (found / "inside" / "x.10.sm_61.cubin").write_bytes(cubins.cubin("sm_61/saxpy"))
    (found / "inside" / "x.2.sm_90.cubin").write_bytes(cubins.cubin("sm_90/saxpy"))
    program = read(Image("app", cubins.host(".nv_fatbin", b"x")), cached=False)
    assert [(one.name, one.arch) for one in program.functions] == [("saxpy", "sm_90"), ("saxpy", "sm_61")]
    assert program.name == "app"
    assert (found / "asked").read_text() == "-xelf all"


@pytest.mark.parametrize(("arch", "read_as"), [("sm_90", ["sm_90"]), ("sm_61", ["sm_61"])])
def test_an_architecture_picks_its_cubins(arch, read_as, found):
    (found / "inside" / "x.1.sm_61.cubin").write_bytes(cubins.cubin("sm_61/saxpy"))
    (found / "inside" / "x.2.sm_90.cubin").write_bytes(cubins.cubin("sm_90/saxpy"))
    program = read(Image("app", b"!<arch>\n"), arch=arch, cached=False)
    assert [one.arch for one in program.functions] == read_as


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(cubins.host("__nv_relfatbin", b"x"), id="relocatable"),
        pytest.param(b"\x50\xed\x55\xba" + bytes(12), id="fatbin"),
        pytest.param(b"!<arch>\n", id="archive"),
    ],
)
def test_every_kind_of_container_is_taken_apart(data, found):
    (found / "inside" / "x.1.sm_61.cubin").write_bytes(cubins.cubin("sm_61/saxpy"))
    assert [one.arch for one in read(Image("app", data), cached=False).functions] == ["sm_61"]


def test_a_container_without_cubins_is_refused(found):
    assert found.exists()
    with pytest.raises(InputError) as caught:
        read(Image("app", cubins.host(".nv_fatbin", b"x")), cached=False)
    assert caught.value.code == "no-gpu-code"


@pytest.mark.parametrize(("section", "code"), [(".text", "no-gpu-code"), (".nv_fatbinx", "no-gpu-code")])
def test_a_program_without_gpu_code_is_refused_before_any_tool_is_looked_for(section, code, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError) as caught:
        read(Image("app", cubins.host(section, b"x")))
    assert caught.value.code == code


def test_bytes_of_no_known_kind_are_refused():
    with pytest.raises(InputError) as caught:
        read(Image("app", b"x"))
    assert caught.value.code == "no-gpu-code"


def test_without_cuobjdump_the_hint_is_the_install_command(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(tools, "_package_folders", lambda _: [])
    with pytest.raises(MissingToolError) as caught:
        read(Image("app", cubins.host(".nv_fatbin", b"x")))
    assert caught.value.code == "cuobjdump-missing"


def test_a_container_that_cuobjdump_refuses_is_an_input_error(found):
    cubins.script(found, "cuobjdump", COPIES + "    sys.exit('cuobjdump fatal : no')\n")
    with pytest.raises(InputError) as caught:
        read(Image("app", b"!<arch>\n"))
    assert caught.value.code == "cuobjdump-failed"
    assert "cuobjdump fatal : no" in caught.value.message


def test_cubins_that_are_too_many_are_refused(found, monkeypatch):
    (found / "inside" / "x.1.sm_61.cubin").write_bytes(cubins.cubin("sm_61/saxpy"))
    monkeypatch.setattr(extract, "_TOTAL", 100)
    with pytest.raises(InputError) as caught:
        read(Image("app", b"!<arch>\n"))
    assert caught.value.code == "too-large"


def test_a_damaged_cubin_inside_is_refused(found):
    (found / "inside" / "x.1.sm_61.cubin").write_bytes(cubins.cubin("sm_61/saxpy")[:1000])
    with pytest.raises(InputError) as caught:
        read(Image("app", b"!<arch>\n"))
    assert caught.value.code == "malformed-elf"


@pytest.mark.parametrize("container", some(["program", "fatbin"]))
@pytest.mark.slow
def test_a_cuobjdump_of_this_machine_takes_the_cubins_out(container, tmp_path):
    fatbin = cubins.fatbin((80, cubins.cubin("sm_80/saxpy")), (90, cubins.cubin("sm_90/two_kernels")))
    path = tmp_path / "app"
    path.write_bytes(fatbin if container == "fatbin" else cubins.host(".nv_fatbin", fatbin))
    try:
        program = read(load(str(path)), cached=False)
    except MissingToolError as missing:
        pytest.skip(f"{missing.message}; {missing.hint}")
    assert [(one.name, one.arch) for one in program.functions] == [
        ("saxpy", "sm_80"),
        ("_Z18two_kernels_secondPii", "sm_90"),
        ("two_kernels_first", "sm_90"),
    ]


def test_a_cubin_needs_no_cuobjdump(found):
    (found / "cuobjdump").unlink()
    assert read(load(str(SAMPLES / "sm_61" / "saxpy.cubin")), cached=False).functions[0].arch == "sm_61"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the system enforces no limits")
@pytest.mark.parametrize("grows", some(["bytearray(2 << 30)", "[None for _ in iter(int, 1)]"]))
def test_a_cuobjdump_that_takes_more_than_its_memory_is_stopped(grows, found):
    cubins.script(found, "cuobjdump", COPIES.replace("    here = ", f"    {grows}\n    here = "))
    with pytest.raises(InputError) as caught:
        read(Image("app", cubins.host(".nv_fatbin", b"x")), cached=False)
    assert caught.value.code == "cuobjdump-failed"
