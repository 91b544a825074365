"""Conditions that grow in each iteration are given up before they take longer than anybody waits."""

from inferring import bound


def test_an_exclusive_or_of_conditions_in_each_iteration_is_not_followed_for_ever():
    text = """
        LDG.E R5, [R2]
        LDG.E R6, [R2+0x4]
        ISETP.GT.AND P1, PT, R5, 0x7, PT
        MOV R0, 0x40000000
    head:
        SHF.R.U32.HI R0, RZ, 0x1, R0
        ISETP.GT.AND P2, PT, R6, R0, PT
        PLOP3.LUT P1, PT, P1, P2, PT, 0x3c, 0x0
        SEL R7, R5, R6, P1
        ISETP.GT.AND P3, PT, R7, 0x9, P1
        ISETP.NE.OR P0, PT, R0, RZ, P3
        @P0 BRA head
        EXIT
    """
    assert bound(text, "sm_80") is None
