"""Loops in which threads only wait, and loops of elections."""

import pytest

from listing import assemble
from sassan.warpcfg.waits import elections, idle_code, waits

TRY = "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R2"
PLAIN = f"""
again:
    {TRY}
    @!P0 BRA again
    EXIT
"""
SLEEPING = f"""
    {TRY}
    @P0 BRA over
    MOV R5, RZ
again:
    ISETP.GE.AND P0, PT, R5, 0x10, PT
    @!P0 BRA counts
    NANOSLEEP 0x40
    BRA tries
counts:
    IADD3 R5, R5, 0x1, RZ
tries:
    {TRY}
    @!P0 BRA again
over:
    EXIT
"""
SUSPENDED = """
again:
    IMAD.U32 R20, RZ, RZ, UR10
    SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R20+URZ], R7
    @!P0 NANOSLEEP.SYNCS 0x989680
    @!P0 SYNCS.PHASECHK.TRANS64 P0, [R20+URZ], R7
    @!P0 BRA again
    EXIT
"""
FOR_REGISTERS = """
again:
    WARPSYNC.ALL
    USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0
    PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0
    @!P0 BRA again
    EXIT
"""
FOR_COLUMNS = """
again:
    NANOSLEEP 0x64
    UMOV UR4, 0x4
    DEPBAR.LE SB0, 0x36
    UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR4, UR4
    IMAD.U32 R3, RZ, RZ, UR4
    BRA.U !UP0, again
    EXIT
"""
BY_A_WORD = FOR_COLUMNS.replace(
    "    BRA.U !UP0, again",
    """
    PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x8
    SEL R3, RZ, 0xffffffff, !P0
    ISETP.NE.AND P0, PT, R3, RZ, PT
    @!P0 BRA again""",
)
ELECTION = """
    PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0
again:
    @P0 ELECT P1, URZ, PT
    UTMALDG.2D [UR8], [UR16]
    @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0
    PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0
    @P0 BRA.U.ANY again
    EXIT
"""


@pytest.mark.parametrize("text", [PLAIN, SLEEPING, SUSPENDED, FOR_REGISTERS], ids=["tries", "sleeps", "suspended", "registers"])
def test_a_loop_that_goes_on_only_where_a_try_failed_is_a_wait(text: str) -> None:
    graph = assemble(text, "sm_90").graph()
    assert list(waits(graph)) == [0]
    assert idle_code(graph)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@!P0 BRA again", "@P0 BRA again"),  # goes on where the phase is over
        (TRY, f"@P1 {TRY}"),  # may not try
        (TRY, f"{TRY}\n    ISETP.NE.AND P0, PT, R3, RZ, PT"),  # another condition decides
        (TRY, f"{TRY}\n    LDG.E R6, [R8.64]"),  # does something
        ("@!P0 BRA again", "@!P0 BRA again\n    @P1 BRA again"),  # another way goes round
        (TRY, f"{TRY}\n    @!P0 BRA again\n    {TRY.replace('UR4', 'UR6')}"),  # two events
        (TRY, f"{TRY}\n    UIADD3 UR4, UR4, 0x8, URZ"),  # another event each time
        (TRY, f"{TRY}\n    R2P PR, R3, 0x1"),  # all predicates at once
        ("@!P0 BRA again", "@!P0 BRA.U.ANY again"),  # whichever thread waits
        (TRY, "SYNCS.ARRIVE.TRANS64 R2, [UR4], R6\n    ISETP.NE.AND P0, PT, R2, RZ, PT"),  # no try
    ],
)
def test_any_other_loop_is_none(old: str, new: str) -> None:
    assert waits(assemble(PLAIN.replace(old, new), "sm_90").graph()) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("BRA.U !UP0", "BRA.U UP0"),  # goes on where there are columns
        ("    UMOV UR4, 0x4\n", ""),  # asks for what was found before
        ("    UMOV UR4, 0x4\n", "    UMOV UR4, UR5\n    UIADD3 UR5, UR5, 0x1, URZ\n"),  # for more each time
        ("UR4, UR4\n", "UR4, UR4\n    UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR4, UR4\n"),
        ("UR4, UR4\n", "UR4, UR4\n    UISETP.NE.AND UP0, UPT, UR3, URZ, UPT\n"),  # another condition decides
        ("FIND_AND_SET.ALIGN UP0", "AND UP0"),  # gives them back
    ],
)
def test_any_other_loop_that_asks_for_columns_is_none(old: str, new: str) -> None:
    assert old in FOR_COLUMNS
    assert list(waits(assemble(FOR_COLUMNS, "sm_100").graph())) == [0]
    assert waits(assemble(FOR_COLUMNS.replace(old, new), "sm_100").graph()) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("!P0\n    ISETP", "P0\n    ISETP"),  # the other number
        ("RZ, 0xffffffff", "RZ, R5"),
        ("ISETP.NE", "ISETP.EQ"),
        ("R3, RZ, PT", "R3, R4, PT"),
        ("R3, RZ, PT", "R3, RZ, P2"),
        ("    ISETP", "    MOV R3, R7\n    ISETP"),
        ("@!P0 BRA", "@P0 BRA"),
    ],
)
def test_a_wait_may_select_a_word_by_the_answer_and_compare_it(old: str, new: str) -> None:
    assert old in BY_A_WORD
    assert list(waits(assemble(BY_A_WORD, "sm_100").graph())) == [0]
    assert waits(assemble(BY_A_WORD.replace(old, new), "sm_100").graph()) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@!P0 SYNCS.PHASECHK.TRANS64 P0", "@P0 SYNCS.PHASECHK.TRANS64 P0"),  # tries again what had succeeded
        ("@!P0 SYNCS.PHASECHK.TRANS64 P0", "@!P1 SYNCS.PHASECHK.TRANS64 P0"),
        ("    SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R20+URZ], R7\n", "    ISETP.NE.AND P0, PT, R3, RZ, PT\n"),  # may not try at all
        ("RZ, RZ, UR10", "R20, R20, UR10"),  # another barrier each time
        ("IMAD.U32 R20, RZ, RZ, UR10", "IMAD.U32 R20, RZ, RZ, R7\n    IMAD.U32 R7, RZ, RZ, R20"),
        ("IMAD.U32 R20, RZ, RZ, UR10", "@P3 IMAD.U32 R20, RZ, RZ, UR10"),
        ("    IMAD.U32 R20, RZ, RZ, UR10\n", "    IMAD.U32 R20, RZ, RZ, UR10\n    MOV R20, R21\n    IADD3 R21, R21, 0x8, RZ\n"),
        ("    @!P0 BRA again", "    IMAD.U32 R20, RZ, RZ, UR11\n    @!P0 BRA again"),  # the second try is of another barrier than the first
        ("R20+URZ], R7\n    @!P0 BRA", "R21+URZ], R7\n    @!P0 BRA"),
    ],
)
def test_any_other_loop_that_is_suspended_is_none(old: str, new: str) -> None:
    assert old in SUSPENDED
    assert waits(assemble(SUSPENDED.replace(old, new), "sm_90").graph()) == {}


def test_a_table_that_turns_the_answer_round_makes_no_wait() -> None:
    turned = FOR_REGISTERS.replace("UP0, 0x80, 0x0", "UP0, 0x40, 0x0")
    assert waits(assemble(turned, "sm_90").graph()) == {}
    assert list(waits(assemble(turned.replace("@!P0", "@P0"), "sm_90").graph())) == [0]


MOVES = """
again:
    PLOP3.LUT P0, PT, P0, P1, PT, 0xa2, 0x0
    @P1 R2UR P0, UR15, R3
    PLOP3.LUT P0, PT, P0, P1, PT, 0xa2, 0x0
    @P1 R2UR.OR P0, UR12, R9
    @P1 PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x0
    UTMASTG.3D [UR12], [UR10]
    @P1 BRA.U.ANY again
    EXIT
"""


def test_a_loop_that_moves_the_words_of_one_thread_after_the_other_has_as_many_iterations_as_threads_enter() -> None:
    ((loop, (move, most)),) = elections(assemble(MOVES, "sm_90").graph(), lambda _: 7).items()
    assert (loop, move.opcode, most) == (0, "R2UR", 6)


@pytest.mark.parametrize(
    ("before", "most"),
    [
        ("MOV R3, RZ\nMOV R9, c[0x0][0x210]", 0),
        ("MOV R3, RZ\nS2R R9, SR_TID.X", 6),
        ("MOV R9, RZ", 6),
    ],
)
def test_threads_that_agree_on_the_words_go_round_it_once(before: str, most: int) -> None:
    ((_, (_, found)),) = elections(assemble(f"{before}\n{MOVES}", "sm_90").graph(), lambda _: 7).items()
    assert found == most


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@P1 R2UR P0", "@P1 R2UR.OR P0"),  # what was said before counts
        ("@P1 R2UR P0", "R2UR P0"),  # the first thread may be one that is done
        ("@P1 PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x0", "@P1 PLOP3.LUT P1, PT, P0, PT, PT, 0x8, 0x0"),  # who was moved stays
        ("@P1 PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x0", "@P2 PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x0"),
        ("UTMASTG.3D [UR12], [UR10]", "ISETP.NE.AND P1, PT, R3, RZ, PT"),  # all may be back
        ("@P1 PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x0", "@P1 PLOP3.LUT P2, P1, P0, PT, P3, 0x80, 0xaa"),  # its second result
        ("    @P1 R2UR.OR P0, UR12, R9\n", "    @P1 R2UR.OR P0, UR12, R9\n    ISETP.NE.AND P0, PT, R3, RZ, PT\n"),
        ("BRA.U.ANY again", "BRA again"),  # some threads go on
    ],
)
def test_any_other_loop_moves_no_words_of_one_thread_after_the_other(old: str, new: str) -> None:
    assert elections(assemble(MOVES.replace(old, new), "sm_90").graph()) == {}


@pytest.mark.parametrize("threads", [0, 1, 7, 32])
def test_a_loop_that_elects_each_thread_once_has_as_many_iterations_as_threads_enter(threads: int) -> None:
    ((loop, (election, most)),) = elections(assemble(ELECTION, "sm_90").graph(), lambda _: threads).items()
    assert (loop, election.opcode, most) == (0, "ELECT", max(0, threads - 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0", "@P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x80, 0x0"),  # who was elected may be again
        ("@P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0", "@P2 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0"),  # another predicate says who
        ("    PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0\n", ""),  # those that were not elected may be taken for it
        ("UTMALDG.2D [UR8], [UR16]", "ISETP.NE.AND P0, PT, R3, RZ, PT"),  # all may be back
        ("@P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0", "@P1 PLOP3.LUT P2, P0, P1, PT, P3, 0x8, 0xaa"),  # its second result
        ("    PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0", "    PLOP3.LUT P2, P1, PT, PT, PT, 0x8, 0x80"),
        ("    @P0 ELECT P1, URZ, PT\n    UTMALDG.2D [UR8], [UR16]\n", "    UTMALDG.2D [UR8], [UR16]\n"),  # nobody is elected
        (
            "    @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0\n    PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0\n",
            "    PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0\n    @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0\n",
        ),  # who was elected is forgotten
        ("BRA.U.ANY again", "BRA again"),  # some threads go on
    ],
)
def test_any_other_loop_elects_nobody_for_sure(old: str, new: str) -> None:
    assert elections(assemble(ELECTION.replace(old, new), "sm_90").graph()) == {}
