"""Where the parameters of a PTX kernel stand."""

import pytest

from sassan.record.ptx import entries

HEAD = ".version 8.0\n.target sm_86\n.address_size 64\n"


def places(head: str) -> tuple[tuple[int, int], ...]:
    return entries(f"{HEAD}.visible .entry k({head})\n{{ ret; }}")[1]["k"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", ()),
        (".param .u32 n", ((0, 4),)),
        (".param .u8 a,\n .param .u64 b, .param .f32 c", ((0, 1), (8, 8), (16, 4))),
        (".param .align 8 .b8 s[12], .param .u16 t", ((0, 12), (12, 2))),
        (".param .u32 a, .param .align 16 .b8 s[20]", ((0, 4), (16, 20))),
        (".param .u64 .ptr .global .align 16 p, .param .u32 n", ((0, 8), (8, 4))),
        (".param .u64 k_param_0 /* a, b */ , .param .u64 k_param_1 // )", ((0, 8), (8, 8))),
    ],
)
def test_a_parameter_stands_at_the_next_multiple_of_its_alignment(head: str, expected: tuple[tuple[int, int], ...]):
    assert places(head + "\n") == expected


def test_the_target_is_read():
    assert entries(HEAD + ".entry k { ret; }") == (86, {"k": ()})


def test_an_unparsed_head_is_not_a_kernel():
    assert entries(HEAD + ".entry k(.param .what n) { ret; }") == (86, {})
