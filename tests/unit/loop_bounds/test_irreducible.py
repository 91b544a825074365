"""Loops that are entered in their middle: what is inferred of them, and of the loops around them."""

from inferring import loops


def test_an_inner_loop_that_is_entered_in_its_middle_alone_ends():
    text = """
        MOV R0, RZ
        ISETP.NE.AND P0, PT, RZ, c[0x0][0x160], PT
    outer:
        MOV R2, RZ
        @P0 BRA middle
    head:
        IADD3 R2, R2, 0x1, RZ
        ISETP.GE.AND P1, PT, R2, 0x7, PT
        @P1 BRA leave
    middle:
        IADD3 R2, R2, 0x1, RZ
        BRA head
    leave:
        IADD3 R0, R0, 0x1, RZ
        ISETP.LT.AND P2, PT, R0, 0x32, PT
        @P2 BRA outer
        EXIT
    """
    assert [one.bound for one in loops(text, "sm_80", x160=1)] == [49, 4]


def test_a_loop_that_is_entered_in_the_middle_of_its_inner_loop_counts_from_there():
    text = """
        LDG.E R9, [R4]
        ISETP.NE.AND P0, PT, R9, RZ, PT
        MOV R0, -0x32
        MOV R3, RZ
        @P0 BRA middle
        MOV R0, RZ
    outer:
        IADD3 R0, R0, 0x1, RZ
        ISETP.GE.AND P1, PT, R0, 0x64, PT
        @P1 EXIT
        MOV R3, RZ
    inner:
        ISETP.GE.AND P2, PT, R3, 0x3, PT
        @P2 BRA outer
        NOP
    middle:
        IADD3 R3, R3, 0x1, RZ
        BRA inner
    """
    assert [one.bound for one in loops(text, "sm_80")] == [150, 4]


def test_what_an_inner_loop_that_is_entered_in_its_middle_does_to_a_counter_is_not_known():
    # By the door R2 has grown by 100 when it comes to the head; over the head it stays as it is.
    text = """
        MOV R0, RZ
        LDG.E R9, [R4]
        ISETP.NE.AND P0, PT, R9, RZ, PT
    outer:
        MOV R2, RZ
        MOV R3, RZ
        @P0 BRA middle
    head:
        IADD3 R3, R3, 0x1, RZ
        ISETP.GE.AND P1, PT, R3, 0x9, PT
        @P1 BRA leave
        IADD3 R2, R2, -0x64, RZ
    middle:
        IADD3 R2, R2, 0x64, RZ
        BRA head
    leave:
        IADD3 R0, R0, 0x1, RZ
        ISETP.LT.AND P2, PT, R2, 0x32, PT
        @P2 EXIT
        ISETP.LT.AND P2, PT, R0, 0x28, PT
        @P2 BRA outer
        EXIT
    """
    assert [one.bound for one in loops(text, "sm_80")] == [39, 9]
