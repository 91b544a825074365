"""Control codes: positions checked on real encodings, and against the schedule notes that the tools print for sm_100 and later."""

import pytest

from sassan.frontend import read
from sassan.ir import Instruction
from sassan.source import Source
from unit.frontend.listings import SAMPLES, cuobjdump, function, sample


def fields(control: int) -> dict[str, int]:
    """Return the fields of a control code (docs/concepts/machine-code.md, "Control codes")."""
    return {
        "stall": control & 15,
        "yield": control >> 4 & 1,
        "write": control >> 5 & 7,
        "read": control >> 8 & 7,
        "wait": control >> 11 & 63,
        "reuse": control >> 17 & 15,
    }


MOVES = ("MOV R1, R2 ; /* 0x5c98078000270001 */", "MOV R3, R4 ; /* 0x5c98078000470003 */")
TID = "S2R R0, SR_TID.X ; /* 0xf0c8000002170000 */"
BACK = "SSY 0x8 ; /* 0xe2900fffff800000 */"
MERGE = "XMAD.MRG R1, R2.reuse, R3.H1, RZ ; /* 0x5b007fa800370201 */"


def maxwell_codes(word: str, *bodies: str) -> list[dict[str, int]]:
    """Return the control codes of three instructions that stand behind one control word."""
    lines = [f"   /*{8 + 8 * index:04x}*/ {body}" for index, body in enumerate(bodies)]
    text = "\n".join(["\tcode for sm_52", "\t\tFunction : k", f"   /* {word} */", *lines, "\t\t.....", ""])
    return [fields(one.control or 0) for one in function(text).instructions]


def test_slots_of_a_control_word_that_pairs_two_instructions():
    first, second, third = maxwell_codes("0x001c4400fe0007f6", *MOVES, TID)
    assert (first["stall"], second["stall"]) == (6, 0)
    assert (third["write"], third["stall"]) == (0, 1)


def test_slots_of_a_control_word_with_waits_and_reuse():
    first, second, third = maxwell_codes("0x083fc400e7e007f1", BACK, TID, MERGE)
    assert first["stall"] == 1
    assert (second["write"], second["stall"]) == (1, 15)
    assert (third["wait"], third["stall"], third["reuse"]) == (0b000001, 1, 0b0001)


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        ("LDG.E.SYS R8, [R6]", "0x0000000006087381", "0x000ea400001ee900", {"stall": 2, "write": 2, "read": 7, "wait": 0, "yield": 1}),
        (
            "ISETP.GE.AND P1, PT, R4, RZ, PT",
            "0x000000ff0400720c",
            "0x004fd80003f26270",
            {"stall": 12, "write": 7, "wait": 0b000100, "yield": 0},
        ),
        ("EXIT", "0x000000000000794d", "0x000fea0003800000", {"stall": 5, "write": 7, "read": 7, "wait": 0, "yield": 1}),
    ],
)
def test_the_control_code_of_volta_is_in_the_high_word(text: str, low: str, high: str, expected: dict[str, int]):
    one = function(cuobjdump(f"{text} ; /* {low} */\n   /* {high} */")).instructions[0]
    assert fields(one.control or 0) == {"read": 7, "reuse": 0, **expected}


def noted(one: Instruction) -> dict[str, int]:
    """Return the fields of the control code that the schedule notes restate."""
    out = {"write": 7, "read": 7, "wait": 0}
    for note in one.notes:
        name, _, value = note[1:].partition("=")
        match name:
            case "wr":
                out["write"] = int(value, 16)
            case "rd":
                out["read"] = int(value, 16)
            case "req":
                out["wait"] = sum(1 << int(barrier) for barrier in value.strip("{}").split(","))
            case _:
                out["stall"] = int("".join(digit for digit in name if digit.isdigit()))
    return out


@pytest.mark.parametrize("path", sorted((SAMPLES / "sm_120").glob("*.cuobjdump.sass")), ids=lambda path: path.name.split(".")[0])
def test_control_codes_equal_the_schedule_notes_of_the_tool(path):
    functions = read(Source("t", sample("sm_120", path.name))).functions
    code = [one for function in functions for one in function.instructions if one.notes]
    assert [noted(one) for one in code] == [{key: fields(one.control or 0)[key] for key in noted(one)} for one in code]
