"""Barrier registers that each function clears unless a register of the warp says that they are, as in code for sm_87."""

import pytest

from listing import assemble, gaps

CLEARED = """
    ISETP.NE.U32.AND P0, PT, RZ, UR2, PT
    @P0 BRA {label}
    BMOV.32 B0, 0xffffffff
    BMOV.32.CLEAR B1, B0
    BMOV.32 B1, 0x0
    UMOV UR2, {number}
    {label}:
"""
BODY = "BSSY B0, end\n {later} BSYNC B0\n end:\n {last} EXIT"


def found(number: str = "0x1", *, first: str = "", last: str = "") -> list[tuple[int, str]]:
    entry, later = (CLEARED.format(label=label, number=number) for label in ("here", "there"))
    return gaps(assemble(first + entry + BODY.format(later=later, last=last), "sm_87").graph())


def test_what_was_cleared_once_is_not_cleared_again():
    assert found() == []


@pytest.mark.parametrize(
    "changed",
    [{"number": "0x0"}, {"number": "UR3"}, {"first": "NOP\n"}, {"last": "UMOV UR2, RZ\n"}],
    ids=["zero", "unknown", "not-at-the-entry", "written-elsewhere"],
)
def test_where_it_may_be_cleared_again_there_is_a_gap(changed: dict[str, str]):
    assert found(**changed) != []
