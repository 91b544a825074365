"""Forms of listings and PTX that foreign files brought, and that our own samples do not have (tests/regressions/foreign)."""

import codecs
from pathlib import Path

import pytest

from cli.shell import ROOT, SAMPLES, Sassan

FOREIGN = ROOT / "tests" / "regressions" / "foreign"
SAXPY = SAMPLES / "sm_80" / "saxpy.cuobjdump.sass"


@pytest.mark.parametrize(
    ("name", "instructions"),
    [
        ("shfl.sm_90.sass", 22),  # a segment mask and a clamp in one immediate: 0x1e01
        ("shfl.sm_120.sass", 22),  # the same in the form of CUDA 13.2
        ("carry_sm_120.sass", 101),  # IADD with a carry out and in
        ("half_sum.sm_120.sass", 17),  # half-precision sums of a sparse product
        ("prototype.ptx", 14),  # prototypes of functions without a semicolon
        ("opcodes.ptx", 9),  # testp, cvt.pack, createpolicy.cvt
        ("residency.ptx", 8),  # a texel with the predicate of its residency
    ],
)
def test_foreign_files_have_no_gap(sassan: Sassan, name: str, instructions: int):
    functions = sassan("analyze", FOREIGN / name, "--json").document["functions"]
    kernel = functions[-1]
    assert (kernel["gaps"], kernel["instructions"]) == ([], instructions)


def test_a_sparse_scaled_product_reads_one_register_of_scales(sassan: Sassan):
    result = sassan("listing", "--check", FOREIGN / "sparse_scale.sm_120.sass", "--json")
    assert (result.status, result.document["functions"][0]["findings"]) == (0, [])


@pytest.mark.parametrize(
    ("mark", "encoding"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF8, "utf-8")]
)
def test_a_listing_of_power_shell_is_read_by_its_mark(sassan: Sassan, tmp_path: Path, mark: bytes, encoding: str):
    path = tmp_path / "dump.sass"
    path.write_bytes(mark + SAXPY.read_text("utf-8").replace("\n", "\r\n").encode(encoding))
    assert sassan("analyze", path).out == sassan("analyze", SAXPY).out


def test_utf16_without_a_mark_is_binary(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "dump.sass"
    path.write_bytes(SAXPY.read_text("utf-8").encode("utf-16-le"))
    assert sassan("analyze", path).codes == ["binary-input"]


def test_a_prototype_may_end_the_module(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "last.ptx"
    text = (FOREIGN / "prototype.ptx").read_text("utf-8")
    path.write_text(text + "\t.func late (.param .s32 a_late)\n", "utf-8")
    assert sassan("analyze", path).status == 0


@pytest.mark.parametrize(
    ("block", "gaps"),
    [
        ("256", {"fixed": ["impossible-launch"], "atmost": ["impossible-launch"]}),
        ("64", {"fixed": ["impossible-launch"], "atmost": []}),
        ("64,2", {"fixed": ["impossible-launch"], "atmost": []}),
        ("128", {"fixed": [], "atmost": []}),
    ],
)
def test_a_kernel_is_bounded_only_for_blocks_that_it_was_compiled_for(sassan: Sassan, block: str, gaps: dict[str, list[str]]):
    functions = sassan("analyze", FOREIGN / "bounds.ptx", "--block-dim", block, "--json").document["functions"]
    assert {each["name"]: [gap["code"] for gap in each["gaps"]] for each in functions} == gaps
