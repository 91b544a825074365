import pytest

from samples import names, program
from sassan.arch import described
from sassan.isa.control import ControlCode, codes, decode, encode, noted, notes

WORD_A = 0x001C4400FE0007F6
WORD_B = 0x083FC400E7E007F1

# Every row of the table of examples in docs/concepts/machine-code.md, "Control codes".
EXAMPLES = [
    ("sm_52", [WORD_A, 0, 0, 0], 0x08, ControlCode(stall=6)),
    ("sm_52", [WORD_A, 0, 0, 0], 0x10, ControlCode(stall=0)),
    ("sm_52", [WORD_A, 0, 0, 0], 0x18, ControlCode(stall=1, write_barrier=0)),
    ("sm_52", [WORD_B, 0, 0, 0], 0x08, ControlCode(stall=1)),
    ("sm_52", [WORD_B, 0, 0, 0], 0x10, ControlCode(stall=15, write_barrier=1)),
    ("sm_52", [WORD_B, 0, 0, 0], 0x18, ControlCode(stall=1, wait_mask=0b1, reuse=0b0001)),
    ("sm_75", [0, 0x000EA400001EE900], 0x00, ControlCode(stall=2, write_barrier=2)),
    ("sm_75", [0, 0x004FD80003F26270], 0x00, ControlCode(stall=12, yield_hint=True, wait_mask=0b100)),
    ("sm_75", [0, 0x000FEA0003800000], 0x00, ControlCode(stall=5)),
]


@pytest.mark.parametrize(("arch", "words", "address", "says"), EXAMPLES)
def test_an_encoding_decodes_to_what_the_design_page_says(arch: str, words: list[int], address: int, says: ControlCode):
    assert [decode(code) for code in codes(described(arch), words, [address])] == [says]


def test_every_code_is_encoded_back_to_itself():
    assert all(encode(decode(code)) == code for code in range(0, 1 << 21, 17))


def test_barriers_are_listed_as_numbers():
    control = ControlCode(stall=1, write_barrier=3, read_barrier=5, wait_mask=0b100101)
    assert (control.sets, control.waits) == ((3, 5), (0, 2, 5))


def test_barrier_seven_is_none():
    assert decode(0b111_111_1_0001).sets == ()


def test_the_schedule_notes_of_sm_120_say_what_the_decoder_says():
    instructions = [
        one
        for name in names("sm_120", "cuobjdump")
        for function in program("sm_120", name, "cuobjdump").functions
        for one in function.instructions
        if one.control is not None
    ]
    wrong = [one for one in instructions if one.control is not None and noted(one.notes) != notes(one.control)]
    assert not wrong, "\n".join(f"{one.address:04x} {one.text} {one.notes}" for one in wrong[:10])
    assert len(instructions) > 5000
    assert sum(len(noted(one.notes)) for one in instructions) > 7000
