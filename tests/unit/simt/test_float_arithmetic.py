"""What `simt.integers` computes of one floating-point instruction: literal numbers in, literal numbers out."""

import struct

import pytest

from integer_step import number, run


def single(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def pair(register: int, value: float) -> dict[str, int]:
    low, high = struct.unpack("<II", struct.pack("<d", value))
    return {f"R{register}": low, f"R{register + 1}": high}


@pytest.mark.parametrize(
    ("text", "held", "result"),
    [
        ("FADD R0, R1, -R2", {"R1": 1.5, "R2": 0.25}, 1.25),
        ("FADD R0, -|R1|, 1", {"R1": -4.0}, -3.0),
        ("FMUL R0, R1, -R2", {"R1": 1.5, "R2": 2.0}, -3.0),
        ("FMUL.FTZ R0, R1, 0.5", {"R1": 1.2e-38}, 0.0),
        ("FFMA R0, R1, R2, -1", {"R1": 3.0, "R2": 2.0}, 5.0),
        ("FFMA.SAT R0, R1, R2, RZ", {"R1": 3.0, "R2": 2.0}, 1.0),
        ("FMNMX R0, R1, R2, PT", {"R1": 3.0, "R2": -2.0}, -2.0),
        ("FMNMX R0, R1, R2, !PT", {"R1": float("nan"), "R2": -2.0}, -2.0),
        ("FSEL R0, R1, R2, !PT", {"R1": 3.0, "R2": -2.0}, -2.0),
        ("MUFU.RSQ R0, R1", {"R1": 4.0}, 0.5),
        ("MUFU.EX2 R0, R1", {"R1": 3.0}, 8.0),
        ("MUFU.COS R0, R1", {"R1": 0.5}, -1.0),
        ("FRND.FLOOR R0, R1", {"R1": -1.5}, -2.0),
    ],
)
def test_a_number(text, held, result):
    assert run(text, **{name: single(value) for name, value in held.items()})[number("R0")] == single(result)


@pytest.mark.parametrize(
    ("text", "left", "right", "result"),
    [
        ("DADD R0, R2, -R4", 1.5, 0.25, 1.25),
        ("DMUL R0, -R2, R4", 1.5, 2.0, -3.0),
        ("DFMA R0, R2, R4, -1", 3.0, 2.0, 5.0),
    ],
)
def test_a_number_of_double_precision(text, left, right, result):
    out = run(text, **pair(2, left), **pair(4, right))
    assert {f"R{register}": out[number(f"R{register}")] for register in (0, 1)} == pair(0, result)


@pytest.mark.parametrize(
    ("text", "left", "right", "truth"),
    [
        ("FSETP.GEU.AND P0, PT, R1, R2, PT", 1.0, 2.0, 0),
        ("FSETP.GEU.AND P0, PT, R1, R2, PT", float("nan"), 2.0, 1),
        ("FSETP.GE.AND P0, PT, R1, R2, PT", float("nan"), 2.0, 0),
        ("FSETP.NAN.AND P0, PT, R1, R2, PT", float("nan"), 2.0, 1),
        ("FSETP.NEU.FTZ.AND P0, PT, |R1|, +INF , PT", float("-inf"), 0.0, 0),
        ("FSETP.LT.OR P0, PT, R1, R2, PT", 3.0, 2.0, 1),
    ],
)
def test_a_comparison(text, left, right, truth):
    assert run(text, R1=single(left), R2=single(right))[number("P0")] == truth


def test_a_comparison_of_double_precision():
    assert run("DSETP.GT.AND P0, PT, R2, R4, PT", **pair(2, 1.0), **pair(4, -1.0))[number("P0")] == 1
    assert run("DSETP.GT.AND P0, PT, R2, R4, PT", **pair(2, -2.0), **pair(4, -1.0))[number("P0")] == 0


@pytest.mark.parametrize(
    ("text", "held", "result"),
    [
        ("F2F.F64.F32 R0, R2", {"R2": single(1.5)}, pair(0, 1.5)),
        ("F2F.F32.F64 R0, R2", pair(2, 1.5), {"R0": single(1.5)}),
        ("I2F.F64 R0, R2", {"R2": 0xFFFFFFFE}, pair(0, -2.0)),
        ("I2F.F64.S64 R0, R2", {"R2": 0, "R3": 0x80000000}, pair(0, -(2.0**63))),
        ("I2F.U64.RP R0, R2", {"R2": 1, "R3": 1}, {"R0": single(2.0**32 + 512)}),
        ("F2I.F64.TRUNC R0, R2", pair(2, -2.75), {"R0": 0xFFFFFFFE}),
        ("F2I.U64.TRUNC R0, R2", {"R2": single(2.0**33)}, {"R0": 0, "R1": 2}),
    ],
)
def test_a_conversion(text, held, result):
    out = run(text, **held)
    assert {name: out[number(name)] for name in result} == result
