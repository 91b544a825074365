"""`sassan memory`: rows, the document, what is assumed, and where accesses are not known."""

import os
from pathlib import Path

import pytest

import cubins
from cli.shell import SAMPLES, Sassan, assert_refused

PATTERNS = SAMPLES / "sm_80" / "memory_patterns.cubin"
LISTING = SAMPLES / "sm_80" / "memory_patterns.nvdisasm.sass"
SQUARE = ("--block-dim", "32,32")
N = ("--param", "param_2=1024")


@pytest.fixture(autouse=True)
def disassembler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a disassembler that plays back the recorded listings on PATH."""
    folder = cubins.recorder(tmp_path / "tools", "sm_80/memory_patterns")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))


def test_one_row_per_access_with_the_worst_first_and_why(sassan: Sassan):
    result = sassan("memory", PATTERNS, "-f", "transpose_naive", *SQUARE, *N)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        "transpose_naive (sm_80)",
        "address  instruction  space   pattern  trans.  ideal  exec.",
        "0x00e0   STG.E        global  strided      32      4      1",
        "0x00b0   LDG.E        global  aligned       4      4      1",
        "  0x00e0 lane stride 4096 bytes: 32 sectors where 4 suffice",
        "",
        "assumptions: 2 (2 assumed)",
        "  - assumed: parameters that addresses begin with are multiples of 256 bytes, as allocators return them",
        "  - assumed: the addresses of one access lie within 4 GiB: lanes that agree on the low word agree on the address",
    ]


def test_a_bank_conflict_says_how_to_pad(sassan: Sassan):
    out = sassan("memory", PATTERNS, "-f", "transpose_tile", *SQUARE, *N).out
    assert "0x0160 32-way bank conflict, rows of 32 words: pad them to 33: 32 passes where 1 suffices\n" in out
    assert "bank conflict" not in sassan("memory", PATTERNS, "-f", "transpose_pad", *SQUARE, *N).out


def test_the_document_holds_every_key(sassan: Sassan):
    (function,) = sassan("memory", PATTERNS, "-f", "transpose_naive", *SQUARE, *N, "--json").document["functions"]
    assert (function["name"], function["arch"], function["gaps"], len(function["assumptions"])) == ("transpose_naive", "sm_80", [], 2)
    assert function["accesses"][0] == {
        "address": "0x00e0",
        "opcode": "STG.E",
        "space": "global",
        "bytes": 4,
        "pattern": "strided",
        "stride": 4096,
        "sectors": 32,
        "passes": None,
        "ideal": 4,
        "collisions": None,
        "executions": 1,
        "exact": True,
        "base": "param_0",
        "reason": "lane stride 4096 bytes: 32 sectors where 4 suffice",
        "source": None,
    }


def test_executions_are_those_of_the_worst_path(sassan: Sassan):
    """The loop over 1024 / 16 tiles runs 64 times, that over a row of one 16 times within."""
    asked = ("memory", PATTERNS, "-f", "matmul", "--block-dim", "16,16", "--json")
    (function,) = sassan(*asked, "--param", "param_3=1024").document["functions"]
    rows = sorted((row["opcode"], row["executions"]) for row in function["accesses"])
    assert rows == [("LDG.E", 64)] * 2 + [("LDS", 1024)] * 2 + [("STG.E", 1)] + [("STS", 64)] * 2
    (function,) = sassan(*asked).document["functions"]
    assert {row["executions"] for row in function["accesses"]} == {None}


def test_the_alignment_of_a_pointer_may_be_given(sassan: Sassan):
    copy = ("memory", PATTERNS, "-f", "vector_copy", "--block-dim", "256", "--json")
    (function,) = sassan(*copy, "--align", "param_1=16").document["functions"]
    rows = [(row["base"], row["pattern"], row["sectors"], row["exact"]) for row in function["accesses"]]
    assert rows == [("param_1", "misaligned", 17, False), ("param_0", "aligned", 16, True)]
    assert function["assumptions"][:2] == [
        "param_1 is a multiple of 16 bytes, as given",
        "parameters that addresses begin with are multiples of 256 bytes, as allocators return them",
    ]


def test_without_a_launch_the_lanes_of_threads_are_not_known(sassan: Sassan):
    result = sassan("memory", LISTING, "-f", "vector_copy")
    assert result.status == 0
    assert result.err == "note: without --block-dim, it is not known which thread is in which lane\n"
    assert result.out.count("scattered") == 2
    assert sassan("memory", LISTING, "-f", "vector_copy", "--quiet").err == ""


@pytest.mark.parametrize(
    ("sample", "code"),
    [("saxpy.ptx", "values-not-followed"), ("recursion.nvdisasm.sass", "recursion"), ("function_pointer.cuobjdump.sass", "indirect-call")],
)
def test_where_values_are_not_followed_a_gap_says_why(sample: str, code: str, sassan: Sassan):
    path = SAMPLES / "sm_61" / sample
    result = sassan("memory", path, "--json")
    (function,) = result.document["functions"]
    assert (result.status, function["accesses"]) == (0, [])
    assert {gap["code"] for gap in function["gaps"]} == {code}
    chosen = sassan("memory", path, "-f", function["name"])
    assert (chosen.status, chosen.codes) == (3, ["gaps"])
    assert "accesses not known\n" in chosen.out
    assert f" {code}: " in chosen.out


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        ((SAMPLES / "README.md",), 3, "unknown-input"),
        (("no-such-file.sass",), 3, "missing-file"),
        ((LISTING, "-f", "nothing"), 2, "unknown-function"),
        ((LISTING, "--block-dim", "2000"), 2, "launch"),
        ((LISTING, "-f", "gather", "--param", "n=3"), 2, "unknown-parameter"),
        ((PATTERNS, "-f", "gather", "--align", "param_3=16"), 2, "unknown-parameter"),
        ((PATTERNS, "-f", "daxpy", "--align", "param_3=16"), 2, "unknown-parameter"),
        ((PATTERNS, "-f", "gather", "--align", "param_0=24"), 2, "parameter"),
        ((PATTERNS, "-f", "gather", "--align", "param_0"), 2, "parameter"),
    ],
    ids=str,
)
def test_bad_input_is_refused(arguments: tuple[str | Path, ...], status: int, code: str, sassan: Sassan):
    result = sassan("memory", *arguments)
    assert_refused(result, status)
    assert result.codes == [code]


def test_help_fits_a_terminal(sassan: Sassan):
    out = sassan("memory", "--help").out
    assert "sassan memory kernels.cubin --block-dim 32,8\n" in out
    assert max(len(line) for line in out.splitlines()) <= 80
