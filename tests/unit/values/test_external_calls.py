"""A call of a function that the input does not hold leaves nothing known of any register, and everything before it as it was."""

from listing import assemble
from sassan.access import accesses
from sassan.access.access import AccessPattern
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.values import with_values
from sassan.warpcfg import explore

CODE = """
    S2R R0, SR_TID.X
    SHL R2, R0, 0x2
    LDS.U.32 R3, [R2]
    CAL `(vprintf)
back:
    LDS.U.32 R4, [R2]
    S2R R0, SR_TID.X
    SHL R2, R0, 0x2
    LDS.U.32 R5, [R2]
    EXIT
"""


def test_lanes_are_known_before_an_external_call_and_behind_it_only_where_they_are_read_again():
    code = assemble(CODE)
    facts_of = tables.load(code.function.arch).facts
    values = with_values(code.graph(), facts_of, LaunchConfiguration((256, 1, 1)), lambda facts: explore(code.function, facts))
    assert values is not None
    assert [access.pattern for access in accesses(values)] == [AccessPattern.ALIGNED, AccessPattern.SCATTERED, AccessPattern.ALIGNED]
