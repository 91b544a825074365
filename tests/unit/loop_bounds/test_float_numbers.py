"""A number of a conversion from floating point is a number, and not the word of one."""

import pytest

from inferring import bound


@pytest.mark.parametrize(
    ("arch", "text"), [("sm_61", "F2I.U32.F32 R4, 3"), ("sm_80", "F2I.U32.CEIL.NTZ R4, 3"), ("sm_120", "F2I.U32.TRUNC.NTZ R4, 3")]
)
def test_a_converted_number_bounds_a_loop(arch: str, text: str):
    loop = f"{text}\nMOV R0, RZ\nhead:\nIADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, R4, PT\n@P0 BRA head\nEXIT"
    assert bound(loop, arch) == 2
