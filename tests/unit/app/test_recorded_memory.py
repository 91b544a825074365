"""What a kernel may store to, whatever its grid and its arguments are; what launches find in memory."""

from dataclasses import replace

import pytest

from listing import assemble
from sassan.app.recorded_memory import stored_through, with_contents
from sassan.ir import CompilerFacts, Parameter
from sassan.launches import Argument, Buffer, Launches, MemoryWrite, ProgramLaunch
from sassan.machine.contents import KnownBytes

BLOCK = (64, 1, 1)
PARAMETERS = (Parameter(0, 0, 8), Parameter(1, 8, 8), Parameter(2, 16, 4))
ADDRESS = """
        S2R R0, SR_TID.X
        MOV R2, c[0x0][0x160]
        MOV R3, c[0x0][0x164]
        IMAD.WIDE R2, R0, 0x4, R2
"""


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("STG.E [R2.64], RZ", {0x160}),
        ("RED.E.ADD.STRONG.GPU [R2.64], R0", {0x160}),
        ("LDG.E R4, [R2.64]", set()),
        ("MOV R5, c[0x0][0xc]\nISETP.LT.AND P0, PT, R5, 0x5, PT\n@P0 EXIT\nSTG.E [R2.64], RZ", {0x160}),
        ("MOV R5, c[0x0][0x170]\nISETP.LT.AND P0, PT, R5, 0x5, PT\n@P0 EXIT\nSTG.E [R2.64], RZ", {0x160}),
        ("LDG.E.64 R6, [R2.64]\nSTG.E [R6.64], RZ", None),
        # Lanes need not agree on an address: each of them begins with the pointer.
        ("LDG.E R6, [R2.64]\nISETP.LT.AND P0, PT, R6, RZ, PT\n@P0 IADD3 R2, R2, 0x4, RZ\nSTG.E [R2.64], RZ", {0x160}),
        ("ST.E [R2.64], RZ\nLDG.E.64 R6, [R2.64]\nST.E [R6.64], RZ", None),
        ("SUST.D.BA.1D.STRONG.SM.TRAP [R0], R4, R2", None),
        ("LDG.E.64 R6, [R2.64]\nMOV R8, c[0x0][0x168]\nMOV R9, c[0x0][0x16c]\nSTG.E [R8.64], R6\nSTG.E [R2.64], R6", {0x160, 0x168}),
    ],
)
def test_the_pointers_behind_stores_are_known_or_nothing_is(store: str, expected: set[int] | None):
    listed = assemble(f"{ADDRESS}{store}\nEXIT", "sm_80").function
    facts = CompilerFacts(16 * len(listed.instructions), parameters=PARAMETERS, parameter_base=0x160, parameter_size=20)
    function = replace(listed, compiler=facts)
    assert stored_through(function, BLOCK) == expected


def test_a_launch_finds_what_it_overwrites_and_the_next_one_does_not():
    listed = assemble(f"{ADDRESS}STG.E [R2.64], RZ\nEXIT", "sm_80").function
    facts = CompilerFacts(16 * len(listed.instructions), parameters=PARAMETERS, parameter_base=0x160, parameter_size=20)
    function = replace(listed, compiler=facts)
    pointer = Argument(0, 8, 0x1000, Buffer(1, 0, 4))
    write = MemoryWrite(0x1000, 4, "sha256:a")
    launch = ProgramLaunch(function.name, (1, 1, 1), BLOCK, arguments=(pointer,))
    recording = Launches((replace(launch, writes=(write,)), launch), data={"sha256:a": b"abcd"})
    first, second = with_contents([("", function)], recording).launches
    assert first.initial is not None
    assert first.initial.parts == (KnownBytes(0x1000, b"abcd"),)
    assert (first.contents, second.contents, second.initial) == (None, None, None)
