"""Bad input: the exit status and the shape of docs/reference/commands.md, never a traceback, in some hundreds of cases."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from budget import FULL, few, some
from cli.shell import SAMPLES, Sassan, assert_refused

CUOBJDUMP = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
TWO_KERNELS = SAMPLES / "sm_61" / "two_kernels.cuobjdump.sass"
NVDISASM = SAMPLES / "sm_61" / "nested_if.nvdisasm.sass"
VOLTA = SAMPLES / "sm_80" / "saxpy.cuobjdump.sass"
COMMANDS = ["analyze", "cfg", "strings", "ipet", "memory"]
PERCENT = range(1, 100)

HOSTILE = [
    "<script>alert(1)</script>",
    "a&b",
    '"quoted"',
    "`backtick`",
    "../../../../tmp/evil",
    "/etc/passwd",
    "$(touch evil)",
    "; rm -rf evil",
    "%n%s%x",
    "[bold red]markup[/]",
    "_Z" + "x" * 5000,
    "\x1b[31mred",
    "naïve\u202eevil",
    "{name}",
    "*",
    "\\N\\l",
]

GARBAGE = {
    "empty": b"",
    "one blank": b" ",
    "only line ends": b"\n" * 1000,
    "one zero": b"\0",
    "zeros": b"\0" * 4096,
    "random bytes": random.Random(1).randbytes(4096),
    "random bytes, long": random.Random(2).randbytes(300_000),
    "latin-1 text": "Überraschung: ärgerlich\n".encode("latin-1"),
    "utf-16 text": "code for sm_61\n".encode("utf-16"),
    "an ELF magic and nothing": b"\x7fELF",
    "an ELF magic and garbage": b"\x7fELF" + random.Random(3).randbytes(500),
    "an ELF header of another machine": b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\0\x3e\0" + b"\0" * 44,
    "a PNG": b"\x89PNG\r\n\x1a\n" + random.Random(4).randbytes(200),
    "a gzip": b"\x1f\x8b\x08" + random.Random(5).randbytes(200),
    "a shell script": b"#!/bin/sh\necho hello\n",
    "C source": b"int main(void) { return 0; }\n",
    "CUDA source": b"__global__ void k(float *x) { x[threadIdx.x] = 1; }\n",
    "JSON": b'{"functions": []}',
    "a head and no function": b"\tcode for sm_61\n",
    "a function and no architecture": b"\t\tFunction : k\n        /*0008*/ EXIT ;  /* 0xe30000000007000f */\n",
    "half a head": b"\tcode for sm_",
    "an address and no instruction": b'\tcode for sm_61\n\t\tFunction : k\n\t.headerflags @"EF_CUDA_SM61"\n        /*0008*/\n',
    "one line of a megabyte": b"x" * 1_000_000,
    "deep brackets": b"\tcode for sm_61\n\t\tFunction : k\n        /*0008*/ MOV R1, " + b"[" * 20_000 + b" ;\n",
    "control characters": bytes(range(1, 32)) * 20,
    "a byte order mark": b"\xef\xbb\xbf",
}


def _shown(text: bytes, percent: int) -> bytes:
    return text[: len(text) * percent // 100]


@pytest.mark.parametrize(
    ("command", "name"), [(command, name) for command in COMMANDS for name in (GARBAGE if FULL or command == COMMANDS[0] else few(GARBAGE))]
)
def test_what_is_no_listing_is_refused(command: str, name: str, sassan: Sassan, tmp_path: Path):
    (tmp_path / "input").write_bytes(GARBAGE[name])
    assert_refused(sassan(command, tmp_path / "input"), 3)


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_is_no_listing_is_refused_on_standard_input(data: bytes, sassan: Sassan):
    assert_refused(sassan("analyze", "-", stdin=data), 3)


@pytest.mark.parametrize("percent", some(PERCENT, of=8))
@pytest.mark.parametrize("dump", [CUOBJDUMP, TWO_KERNELS, NVDISASM, VOLTA], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_dump_cut_off_anywhere_is_refused(dump: Path, percent: int, sassan: Sassan):
    cut = _shown(dump.read_bytes(), percent)
    assert_refused(sassan("analyze", "-", stdin=cut), 3)


@pytest.mark.parametrize("percent", range(5, 100, 10))
def test_a_cubin_cut_off_anywhere_is_refused(percent: int, sassan: Sassan, tmp_path: Path):
    (tmp_path / "cut.cubin").write_bytes(_shown((SAMPLES / "sm_61" / "saxpy.cubin").read_bytes(), percent))
    result = sassan("analyze", tmp_path / "cut.cubin")
    assert_refused(result, result.status)
    assert result.status in {3, 4}  # 4: no disassembler is installed


@pytest.mark.parametrize("opcode", ["FROB", "FROB.X", "XYZZY.E.64", "MOVX", "ffma", "EXITT", "S2RR"])
def test_an_unknown_opcode_is_named(opcode: str, sassan: Sassan):
    text = CUOBJDUMP.read_text().replace("S2R ", f"{opcode} ", 1)
    result = sassan("analyze", "-", "--json", stdin=text.encode())
    if result.status == 0:
        function = result.document["functions"][0]
        assert function["wcet"]["value"] is None
        assert [gap["code"] for gap in function["gaps"]] == ["unknown-opcode"]
        assert opcode in function["gaps"][0]["message"]
    else:
        assert_refused(result, 3, silent=False)
        assert opcode in result.err


@pytest.mark.parametrize("arch", ["sm_00", "sm_12", "sm_49", "sm_99", "sm_999", "sm_", "sm_xx", "gfx906"])
def test_an_unknown_architecture_is_refused(arch: str, sassan: Sassan):
    text = CUOBJDUMP.read_text().replace("sm_61", arch).replace("SM61", arch.upper().replace("_", ""))
    assert_refused(sassan("analyze", "-", stdin=text.encode()), 3)


@pytest.mark.parametrize("arch", ["", "6", "x", "sm61x", "6.1.1", "sm_", "-1", "99999999999999", "\uff16.\uff11", "sm_61 "])
def test_an_architecture_that_is_none_is_a_usage_error(arch: str, sassan: Sassan):
    assert_refused(sassan("analyze", CUOBJDUMP, f"--sm={arch}"), 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(HOSTILE, of=3))
def test_a_hostile_kernel_name_is_only_a_name(name: str, sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    text = CUOBJDUMP.read_bytes().replace(_name(CUOBJDUMP).encode(), name.encode())
    for command in COMMANDS if FULL else COMMANDS[:1]:
        result = sassan(command, "-", stdin=text)
        assert result.status in {0, 3}
        assert all(line.isprintable() for line in (result.out + result.err).split("\n"))
        assert "internal" not in result.codes
    for output in ["cfg {name}.svg", "cfg {name}.dot", "ipet {name}.lp", "ipet {name}.mps"]:
        command, file = output.split()
        result = sassan(command, "-", "-o", file, stdin=text)
        assert "internal" not in result.codes
        assert len(list(tmp_path.iterdir())) == (1 if result.status == 0 else 0)
        for one in tmp_path.iterdir():
            one.unlink()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_name_is_only_a_name(name: str, sassan: Sassan):
    assert_refused(sassan("analyze", "--", name), 3)


@pytest.mark.parametrize("name", HOSTILE[:-4] + HOSTILE[-1:])
def test_a_hostile_name_of_a_function_is_unknown(name: str, sassan: Sassan):
    result = sassan("analyze", CUOBJDUMP, f"--function={name}")
    assert_refused(result, 2)
    assert result.codes == ["unknown-function"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_file_is_refused(command: str, sassan: Sassan, tmp_path: Path):
    assert_refused(sassan(command, tmp_path / "missing.sass"), 3)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_is_refused(command: str, sassan: Sassan, tmp_path: Path):
    assert_refused(sassan(command, tmp_path), 3)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_below_a_file_is_refused(command: str, sassan: Sassan):
    assert_refused(sassan(command, CUOBJDUMP / "x"), 3)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_without_permission_is_refused(command: str, sassan: Sassan, tmp_path: Path):
    sassan(command, CUOBJDUMP)  # everything is imported before the rights are dropped
    (tmp_path / "secret.sass").write_bytes(CUOBJDUMP.read_bytes())
    (tmp_path / "secret.sass").chmod(0)
    with _ordinary_user():
        result = sassan(command, tmp_path / "secret.sass")
    assert_refused(result, 3)


@pytest.mark.parametrize("length", [300, 5000])
def test_a_file_name_that_is_too_long_is_refused(length: int, sassan: Sassan):
    assert_refused(sassan("analyze", "x" * length), 3)


def test_a_loop_with_no_bound_is_a_gap_with_its_address(sassan: Sassan):
    result = sassan("analyze", SAMPLES / "sm_61" / "mandelbrot.cuobjdump.sass", "--json")
    assert result.status == 0
    function = result.document["functions"][0]
    assert function["wcet"]["value"] is None
    assert {gap["code"] for gap in function["gaps"]} == {"unbounded-loop"}


def test_a_selected_function_with_a_gap_is_refused_after_its_table(sassan: Sassan):
    result = sassan("analyze", SAMPLES / "sm_61" / "mandelbrot.cuobjdump.sass", "-f", "*")
    assert_refused(result, 3, silent=False)
    assert result.codes == ["gaps"]
    assert "unbounded-loop" in result.out


def test_a_bad_file_does_not_hide_the_others(sassan: Sassan, tmp_path: Path):
    (tmp_path / "empty.sass").write_bytes(b"")
    result = sassan("analyze", tmp_path / "empty.sass", CUOBJDUMP, tmp_path / "missing.sass", "--json")
    assert result.status == 3
    assert [one["name"] for one in result.document["functions"]] == [_name(CUOBJDUMP)]
    assert [Path(one["file"]).name for one in result.document["errors"]] == ["empty.sass", "missing.sass"]
    assert len(result.codes) == 2


def _name(path: Path) -> str:
    line = next(line for line in path.read_text().splitlines() if "Function : " in line)
    return line.split("Function : ")[1].strip()


@contextmanager
def _ordinary_user() -> Iterator[None]:
    """Drop root's rights, to which permissions mean nothing."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
