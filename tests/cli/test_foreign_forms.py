"""Forms of listings and PTX that foreign files brought, and that our own samples do not have (tests/regressions/foreign)."""

import codecs
from pathlib import Path

import pytest

from budget import FULL, some
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
        ("powershell.sass", 15),  # UTF-16
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
    for suffix in ("ptx", "cubin"):
        functions = sassan("analyze", FOREIGN / f"bounds.{suffix}", "--block-dim", block, "--json").document["functions"]
        assert {each["name"]: [gap["code"] for gap in each["gaps"]] for each in functions} == gaps


@pytest.mark.slow
def test_a_loop_over_size_t_has_the_bound_of_one_over_int(sassan: Sassan):
    launch = ["--block-dim", "256", "--grid", "16", "--param", "param_3=4096"]
    (kernel,) = sassan("analyze", FOREIGN / "size_t_loop.cubin", *launch, "--json").document["functions"]
    # Unrolled by four: 1024 iterations of the first loop, none of the second one.
    assert [loop["bound"] for loop in kernel["loops"]] == [1023, 0]


@pytest.mark.slow
def test_a_remainder_that_no_thread_reaches_costs_nothing(sassan: Sassan):
    launch = ["--gpu", "RTX 3080", "--block-dim", "256", "--grid", "4096", "--param", "param_2=4096"]
    once, unrolled = (sassan("analyze", FOREIGN / f"strided_{name}.cubin", *launch, "--json").document for name in ("once", "unrolled"))
    text = "no thread of the launch executes the blocks at 0x0110, 0x0150, 0x0760, 0x09d0"
    assert text in str(unrolled["functions"][0])
    assert unrolled["functions"][0]["wcet"]["value"] < once["functions"][0]["wcet"]["value"]


@pytest.mark.slow
def test_assertions_that_the_launch_decides_are_no_gap_and_cost_little(sassan: Sassan):
    launch = ["--gpu", "RTX 3080", "--block-dim", "256", "--grid", "4096", "--param", "param_2=4096"]
    with_them, without = (
        sassan("estimate", FOREIGN / f"assert_{name}.cubin", *launch, "--json").document["functions"][0] for name in ("with", "without")
    )
    assert with_them["gaps"] == []
    assert without["estimate"]["us"] <= with_them["estimate"]["us"] <= 1.01 * without["estimate"]["us"]


@pytest.mark.slow
def test_an_assertion_that_nothing_decides_is_assumed_to_hold(sassan: Sassan):
    (kernel,) = sassan("analyze", FOREIGN / "assert_with.cubin", "--block-dim", "256", "--json").document["functions"]
    assert "external-function" not in {gap["code"] for gap in kernel["gaps"]}
    assert "no assertion fails: __assertfail ends the launch, and is never called" in kernel["wcet"]["assumptions"]


@pytest.mark.slow
def test_a_number_that_decides_no_branch_and_no_address_need_not_be_given(sassan: Sassan):
    launch = ["--gpu", "RTX A6000", "--block-dim", "16,16", "--grid", "8,8", "--param", "param_0=32"]

    def estimate(name: str, *more: str) -> dict[str, object]:
        return sassan("estimate", FOREIGN / f"float_{name}.cubin", *launch, *more, "--json").document["functions"][0]["estimate"]

    unset, none = estimate("argument"), estimate("constant")
    assert unset["counts"] == none["counts"] == "warps of the launch that were run, with drawn contents of memory"
    if FULL:
        assert estimate("argument", "--param", "param_4=0.5")["us"] == unset["us"]
    assert abs(float(str(unset["us"])) / float(str(none["us"])) - 1) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_120"])
def test_an_address_that_the_host_gives_is_not_in_shared_memory(sassan: Sassan, arch: str):
    # atomicAdd of a __half2 asks for the memory of its address, and adds in a loop of its own where that is shared.
    kernel = sassan("analyze", FOREIGN / f"half2.{arch}.cubin", "--block-dim", "256", "--json").document["functions"][0]
    assert (kernel["gaps"], kernel["loops"][0]["bound"]) == ([], 0)
    assert "addresses that are made of arguments of the kernel lie neither in shared nor in local memory" in str(kernel)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_120"])
def test_a_guarded_barrier_of_the_warp_before_a_matrix_product_is_no_gap(sassan: Sassan, arch: str):
    given = ["--block-dim", "64", "--grid", "4", "--param", "param_4=256"]
    kernels = [sassan("analyze", FOREIGN / f"guard.{arch}.cubin", *launch, "--json").document["functions"][0] for launch in (given, [])]
    assert [kernel["gaps"] for kernel in kernels] == [[], []]
    # Values prove it for a launch; else it is taken for granted.
    assumed = "the threads of a warp agree on the guard of the barrier"
    assert [assumed in str(kernel) for kernel in kernels] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("arch", some(["sm_80", "sm_90", "sm_120"], of=3))
def test_a_loop_to_a_word_of_bytes_of_two_words_has_no_bound(sassan: Sassan, arch: str):
    # 116 iterations were inferred; a thread can execute four thousand million.
    kernel = sassan("analyze", FOREIGN / f"permuted.{arch}.cubin", "--block-dim", "64", "--json").document["functions"][0]
    assert [gap["code"] for gap in kernel["gaps"]] == ["unbounded-loop"]


@pytest.mark.slow
def test_a_renamed_function_is_found_by_its_code(sassan: Sassan):
    old, new = FOREIGN / "renamed_old.cubin", FOREIGN / "renamed_new.cubin"
    assert "2 functions: 0 with other code, 2 with the same (1 of these with another name)" in sassan("diff", "--sass", old, new).out
    assert "1 renamed, 1 same" in sassan("diff", old, new, "--loop-bound", "9").out
