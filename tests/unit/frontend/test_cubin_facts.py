"""What a cubin says of its functions: literal values of shipped samples, both generations of ELF, and attributes that are none."""

import struct

import pytest

import cubins
from sassan.arch import architecture
from sassan.errors import InputError
from sassan.frontend.cubin.attributes import AttributeProblem, attributes, branches
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.cubin.facts import compiler_facts
from sassan.frontend.image import Image
from sassan.ir import CompilerFacts, Function, Parameter


def facts(sample: str, data: bytes | None = None) -> dict[str, CompilerFacts]:
    """Return what a sample says of each function, or these bytes in its place."""
    image = Image("k.cubin", cubins.cubin(sample) if data is None else data)
    arch = architecture(sample.partition("/")[0])
    assert arch is not None
    return compiler_facts(image, Elf(image), arch)


def test_an_old_cubin_has_all_facts_of_a_kernel():
    assert facts("sm_61/saxpy") == {
        "saxpy": CompilerFacts(
            code_size=0x100,
            exits=(0x58, 0xE8),
            registers=7,
            barriers=0,
            frame_size=0,
            parameters=(Parameter(0, 0, 4), Parameter(1, 4, 4), Parameter(2, 8, 8), Parameter(3, 16, 8)),
            parameter_base=0x140,
            parameter_size=24,
        )
    }


def test_a_cubin_of_the_second_generation_has_all_facts_of_a_kernel():
    found = facts("sm_120/barrier_reduce")["barrier_reduce"]
    assert (found.registers, found.barriers, found.shared, found.parameter_base) == (10, 2, 1028, 0x380)


@pytest.mark.parametrize(("sample", "sm"), [("sm_52/saxpy", 52), ("sm_90/saxpy", 90), ("sm_100/saxpy", 100), ("sm_120/saxpy", 120)])
def test_the_architecture_is_read_by_generation(sample, sm):
    assert Elf(Image("k", cubins.cubin(sample))).sm == sm


def test_targets_are_instructions_also_where_the_table_names_control_words():
    found = facts("sm_61/switch_brx")["switch_brx"]
    assert found.indirect_targets[:2] == ((0x170, (0x1B0, 0x288, 0x178, 0x490)), (0x1A8, (0x708,)))


def test_a_call_through_a_register_has_no_targets():
    assert facts("sm_61/function_pointer")["function_pointer"].indirect_calls == (0x108,)


def test_every_section_of_code_has_its_own_facts():
    found = facts("sm_61/two_kernels")
    assert {name: (one.registers, one.code_size) for name, one in found.items()} == {
        "_Z18two_kernels_secondPii": (20, 0x380),
        "two_kernels_first": (17, 0x280),
    }


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\4", id="cut off"),
        pytest.param(b"\4\x1c\x04", id="cut off in the entry"),
        pytest.param(b"\4\x1c\x04\0\1\2", id="cut off in the payload"),
        pytest.param(b"\4\x1c\xff\xff", id="larger than the section"),
        pytest.param(b"\0\x1c\0\0", id="a format that is none"),
        pytest.param(b"\5\x1c\0\0", id="an unknown format"),
    ],
)
def test_bytes_that_are_no_attributes_are_refused(data):
    with pytest.raises(AttributeProblem):
        list(attributes(data))


def entry(kind: int, payload: bytes) -> bytes:
    """Return an attribute with a payload."""
    return struct.pack("<BBH", 4, kind, len(payload)) + payload


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(struct.pack("<IHH", 8, 0, 0), id="cut off"),
        pytest.param(struct.pack("<IHHI", 8, 0, 0, 1), id="a target short"),
        pytest.param(struct.pack("<IHHI", 8, 0, 0, 2**32 - 1), id="four thousand million targets"),
        pytest.param(struct.pack("<IHHI", 8, 0, 0, 0), id="a branch without targets"),
        pytest.param(struct.pack("<IHHII", 8, 1, 0, 1, 8), id="a call with a target"),
        pytest.param(struct.pack("<IHHII", 8, 0, 7, 1, 8), id="a number where none is"),
        pytest.param(struct.pack("<IHHII", 8, 2, 0, 1, 8), id="an unknown flag"),
    ],
)
def test_a_table_of_branches_that_is_none_is_refused(payload):
    (one,) = attributes(entry(0x34, payload))
    with pytest.raises(AttributeProblem):
        list(branches(one))


@pytest.mark.parametrize(
    "contents",
    [
        pytest.param(entry(0x1C, b"\1\2\3"), id="half an offset"),
        pytest.param(entry(0x1C, struct.pack("<I", 0x100)), id="an EXIT behind the code"),
        pytest.param(entry(0x34, struct.pack("<IHHII", 8, 0, 0, 1, 0x1000)), id="a target behind the code"),
        pytest.param(entry(0x34, struct.pack("<IHHI", 2**31, 1, 0, 0)), id="a call behind the code"),
        pytest.param(entry(0x0A, b""), id="a size without bytes"),
        pytest.param(entry(0x17, b"\0" * 8), id="a parameter without a size"),
        pytest.param(entry(0x2F, struct.pack("<II", 2**32 - 1, 1)), id="a symbol that is none"),
    ],
)
def test_attributes_that_contradict_the_code_are_refused(contents):
    with pytest.raises(InputError) as caught:
        facts("sm_61/saxpy", cubins.with_contents(cubins.cubin("sm_61/saxpy"), ".nv.info.saxpy", contents))
    assert caught.value.code == "malformed-elf"


def test_a_cubin_without_attributes_has_no_facts():
    bare = cubins.with_field(cubins.cubin("sm_61/saxpy"), ".nv.info.saxpy", "size", 0)
    assert facts("sm_61/saxpy", bare)["saxpy"].exits is None


EXPLICIT, OF_FOUR, AT_MOST_EIGHT = b"\x01\x3e\x00\x00", struct.pack("<BBH3I", 4, 0x3D, 12, 4, 1, 1), struct.pack("<BBHI", 4, 0x3F, 4, 8)


@pytest.mark.parametrize(
    ("attribute", "allowed"),
    [(0x10, [(128, 1, 1)]), (0x05, [(128, 1, 1), (16, 4, 1), (1, 1, 1)])],
    ids=["REQNTID", "MAX_THREADS"],
)
def test_a_cubin_says_which_blocks_may_be_launched(attribute: int, allowed: list[tuple[int, int, int]]):
    data = entry(attribute, struct.pack("<III", 128, 1, 1))
    limit = facts("sm_90/saxpy", cubins.with_contents(cubins.cubin("sm_90/saxpy"), ".nv.info.saxpy", data))["saxpy"].block
    assert limit is not None
    assert [block for block in ((128, 1, 1), (16, 4, 1), (1, 1, 1), (16, 16, 1), (129, 1, 1)) if limit.allows(block)] == allowed


@pytest.mark.parametrize(
    ("told", "cluster", "clustered"),
    [
        (b"", None, False),
        (EXPLICIT, 0, True),
        (EXPLICIT + OF_FOUR, 4, True),
        (AT_MOST_EIGHT, 8, True),
        (AT_MOST_EIGHT + OF_FOUR, 4, True),
        (OF_FOUR + AT_MOST_EIGHT, 4, True),
        (struct.pack("<BBH3I", 4, 0x3D, 12, 1, 1, 1), 1, False),
    ],
    ids=["nothing", "some", "four", "at-most-eight", "both", "both-reversed", "of-one"],
)
def test_a_cubin_declares_whether_blocks_are_launched_in_clusters(told: bytes, cluster: int | None, clustered: bool):
    found = facts("sm_90/saxpy", cubins.with_contents(cubins.cubin("sm_90/saxpy"), ".nv.info.saxpy", told))["saxpy"]
    assert (found.cluster, Function("saxpy", "sm_90", (), compiler=found).clustered) == (cluster, clustered)
