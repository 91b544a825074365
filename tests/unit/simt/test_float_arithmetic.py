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
        ("FMUL.D2 R0, R1, R2", {"R1": 3.0, "R2": 5.0}, 7.5),
        ("FMUL.D4 R0, R1, R2", {"R1": 3.0, "R2": 5.0}, 3.75),
        ("FMUL.M4 R0, R1, -R2", {"R1": 3.0, "R2": 5.0}, -60.0),
        ("FSET.BF.GT.AND R0, R1, R2, PT", {"R1": 3.0, "R2": -2.0}, 1.0),
        ("FSET.BF.GT.AND R0, R1, R2, PT", {"R1": 3.0, "R2": float("nan")}, 0.0),
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


@pytest.mark.parametrize(
    ("text", "word", "result"),
    [
        ("I2F.U8 R0, R1", 0x123456F0, single(240.0)),
        ("I2F.U8 R0, R1.B1", 0x123456F0, single(86.0)),
        ("I2F.S8 R0, R1.B3", 0xF2345600, single(-14.0)),
        ("I2F.U16 R0, R1", 0x1234FFFE, single(65534.0)),
        ("I2F.S16 R0, R1", 0x1234FFFE, single(-2.0)),
        ("F2I.S16.TRUNC.NTZ R0, R1", single(-1.75), 0xFFFFFFFF),
        ("F2I.S16.TRUNC.NTZ R0, R1", single(70000.0), 32767),
        ("F2I.U16.TRUNC.NTZ R0, R1", single(70000.0), 65535),
        ("F2I.U16.TRUNC.NTZ R0, R1", single(-3.0), 0),
        ("F2I.U8.NTZ R0, R1", single(2.5), 2),
        ("F2I.S8.CEIL.NTZ R0, R1", single(-200.5), 0xFFFFFF80),
        ("FSET.GTU.AND R0, R1, 2, PT", single(float("nan")), 0xFFFFFFFF),
    ],
)
def test_conversions_to_and_from_parts_of_a_word(text, word, result):
    assert run(text, R1=word)[number("R0")] == result


@pytest.mark.parametrize(
    ("left", "right", "first", "neither"),
    [(1.5, 2.0, 0, 0), (2.0, 1.5, 1, 0), (float("nan"), 2.0, 0, 0), (2.0, float("nan"), 1, 0), (float("nan"), float("nan"), 1, 1)],
)
def test_the_greater_of_two_numbers(left, right, first, neither):
    out = run("DSETP.MAX.AND P0, P1, R2, R4, PT", **pair(2, left), **pair(4, right))
    assert (out[number("P0")], out[number("P1")]) == (first, neither)
    out = run("DSETP.MIN.AND P0, P1, R2, R4, PT", **pair(2, -left), **pair(4, -right))
    assert (out[number("P0")], out[number("P1")]) == (first, neither)
