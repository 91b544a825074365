"""`sassan analyze` with a launch: occupancy, the bound of a full SM, the bound of a grid, and launches that are impossible."""

import json

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from sassan.ipet.sm.hardware import hardware
from sassan.products import find

SAXPY = SAMPLES / "sm_61" / "saxpy.nvdisasm.sass"
SUM = SAMPLES / "sm_61" / "reduce_shared.nvdisasm.sass"
TOLD = ("--registers", "7", "--shared", "0")


def one(sassan: Sassan, *arguments: object) -> dict[str, object]:
    (found,) = json.loads(sassan("analyze", *arguments, "--json").out)["functions"]
    return found


def test_a_block_says_how_many_warps_fill_an_sm_and_they_are_bounded(sassan: Sassan):
    found = one(sassan, SAXPY, "--block-dim", "256", "--registers", "64", "--shared", "0")
    assert found["makespan"]["warps"] == 32
    assert found["makespan"]["upper"] == 308
    occupancy = {key: found["occupancy"][key] for key in ("blocks", "warps", "block_warps", "registers", "limited_by")}
    assert occupancy == {"blocks": 4, "warps": 32, "block_warps": 8, "registers": 64, "limited_by": ["registers"]}


def test_a_grid_has_a_bound_of_its_own_that_falls_with_the_number_of_sms(sassan: Sassan):
    asked = (SAXPY, "--block-dim", "256", "--grid", "100", *TOLD)
    grids = [one(sassan, *asked, *sms)["grid"] for sms in ((), ("--sms", "2"), ("--sms", "20"))]
    assert [(grid["blocks"], grid["sms"], grid["resident"], grid["upper"]) for grid in grids] == [
        (100, 1, 8, 8083),
        (100, 2, 8, 4307),
        (100, 20, 5, 382),
    ]


def test_a_grid_that_one_sm_holds_waits_for_its_own_warps_only(sassan: Sassan):
    found = one(sassan, SAXPY, "--block-dim", "32", "--grid", "3", *TOLD)
    assert found["grid"]["upper"] == 40


def test_what_a_launch_takes_for_granted_is_printed(sassan: Sassan):
    out = sassan("analyze", SAXPY, "--block-dim", "16,16", "--grid", "4", "--sms", "2", *TOLD, "--partition").out
    assert "saxpy     sm_61     22       2    1        0    22       160   160\n" in out
    assert "  saxpy: 8 blocks of 8 warps on an SM (limited by warps)\n  saxpy: partition model: 148\n" in out
    assert (
        "- a block is dispatched to any SM as soon as one has a free place, and starts with all its warps; nothing else is on the GPU\n"
        in out
    )
    assert "- a warp stays with its scheduler, which has ceil(W / 4) of W warps\n" in out


def test_fewer_warps_than_are_resident_may_be_asked_for(sassan: Sassan):
    assert one(sassan, SAXPY, "--block-dim", "64", "-W", "4", *TOLD)["makespan"]["warps"] == 4


def test_barriers_are_charged_by_the_block(sassan: Sassan):
    asked = (SUM, "--loop-bound", "10", "--registers", "10", "--shared", "1024", "-W", "64")
    bounds = [one(sassan, *asked, "--block-dim", size)["makespan"]["upper"] for size in ("1024", "256", "64")]
    assert bounds == sorted(bounds, reverse=True)
    assert len(set(bounds)) == 3


def test_a_listing_that_tells_no_registers_says_what_to_give(sassan: Sassan):
    dump = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
    found = one(sassan, dump, "--block-dim", "256")
    assert (found["makespan"], found["grid"], found["occupancy"]["blocks"]) == (None, None, None)
    assert found["occupancy"]["why"].endswith("registers and shared memory: pass a cubin, or --registers N and --shared BYTES")
    assert "saxpy: occupancy not known: " in sassan("analyze", dump, "--block-dim", "256").out


def test_a_listing_of_nvdisasm_may_tell_registers(sassan: Sassan):
    asked = (SAXPY, "--block-dim", "256")
    assert one(sassan, *asked)["occupancy"]["why"] == "the input does not give shared memory: pass a cubin, or --shared BYTES"
    assert one(sassan, *asked, "--shared", "0")["occupancy"]["registers"] == 7


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--block-dim", "1025"), "launch", "a block of x extent 1025 cannot be launched"),
        (("--block-dim", "32,32,2"), "launch", "a block of 2048 threads cannot be launched"),
        (("--block-dim", "32", "--grid", "0"), "launch", "a grid of x extent 0 cannot be launched"),
        (("--block-dim", "32", "--grid", "1,65536"), "launch", "a grid of y extent 65536 cannot be launched"),
        (("--block-dim", "1024", "--registers", "128", "--shared", "0"), "launch", "128 registers each cannot be launched"),
        (("--block-dim", "32", "--registers", "8", "--shared", "65536"), "launch", "65536 bytes of shared memory cannot be launched"),
        (("--block-dim", "1024", "--registers", "64", "--shared", "0", "-W", "64"), "bad-warps", "1 blocks of 32 warps are"),
        (("--registers", "8"), "usage", "--registers has no effect without --block-dim"),
        (("--block-dim", "32", "--sms", "4"), "usage", "--sms has no effect without --block-dim and --grid"),
        (("--partition",), "usage", "--partition has no effect without -W or --block-dim"),
    ],
    ids=str,
)
def test_a_launch_that_is_impossible_is_a_usage_error(arguments: tuple[str, ...], code: str, words: str, sassan: Sassan):
    result = sassan("analyze", SAXPY, *arguments)
    assert_refused(result, 2)
    assert result.codes == [code]
    assert words in result.err


def test_a_bound_for_a_gpu_says_what_it_takes_for_granted_of_silicon(sassan: Sassan):
    saxpy = SAMPLES / "sm_90" / "saxpy.cuobjdump.sass"
    grid = one(sassan, saxpy, "--block-dim", "256", "--grid", "4", *TOLD, "--gpu", "H100 PCIe", "--model", "control")["grid"]
    kinds = dict(zip(grid["assumptions"], grid["assumption_kinds"], strict=True))
    assert {kinds[text] for text in hardware(find("H100 PCIe"))} == {"assumed"}
