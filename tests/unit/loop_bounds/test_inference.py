"""What is inferred of small loops, and what must not be."""

import pytest

from inferring import bound, counter, loops
from listing import assemble
from sassan.ipet.loop_bounds import Inferred, Refutation, trial
from sassan.ipet.loop_bounds.recheck import check as check_bounds
from sassan.ipet.loop_bounds.results import joined
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration


def test_a_counter_below_a_constant():
    (one,) = loops(counter("ISETP.LT.AND P0, PT, R0, 0xa, PT"))
    assert (one.bound, one.reason) == (9, "R0 from 0, plus 1 per iteration, at most 8")


@pytest.mark.parametrize(
    ("test", "turns"),
    [
        ("ISETP.LT.AND P0, PT, R0, c[0x0][0x150], PT", 11),
        ("ISETP.LE.AND P0, PT, R0, c[0x0][0x150], PT", 12),
        ("ISETP.GT.AND P0, PT, c[0x0][0x150], R0, PT", 11),
        ("ISETP.NE.AND P0, PT, R0, c[0x0][0x150], PT", 11),
        ("ISETP.LT.U32.AND P0, PT, R0, c[0x0][0x150], PT", 11),
    ],
)
def test_every_comparison_with_a_parameter(test, turns):
    assert bound(counter(test), x150=12) == turns


def test_a_parameter_that_is_not_told_is_asked_for():
    (one,) = loops(counter("ISETP.LT.AND P0, PT, R0, c[0x0][0x150], PT"))
    assert (one.bound, one.advice) == (None, "pass --param 0x150=N")


@pytest.mark.parametrize("arch", ["sm_61", "sm_75"])
def test_a_parameter_may_be_read_at_a_computed_place(arch):
    load = "MOV R5, 0x10\nLDC R4, c[0x0][R5+0x160]\nMOV R0, RZ"
    assert bound(counter("ISETP.LT.AND P0, PT, R0, R4, PT", start=load, step="IADD3 R0, R0, 0x1, RZ"), arch, x170=12) == 11


def test_a_place_that_depends_on_the_thread_is_not_known():
    load = "S2R R5, SR_TID.X\nSHL R5, R5, 0x2\nLDC R4, c[0x0][R5+0x140]\nMOV R0, RZ"
    assert bound(counter("ISETP.LT.AND P0, PT, R0, R4, PT", start=load), x150=12) is None


def test_a_conversion_from_words_to_words_is_a_copy():
    convert = "MOV R6, c[0x0][0x150]\nI2I.S32.S32 R4, R6\nMOV R0, RZ"
    assert bound(counter("ISETP.LT.AND P0, PT, R0, R4, PT", start=convert), x150=12) == 11


def test_a_conversion_to_less_than_a_word_is_not_followed():
    convert = "MOV R6, c[0x0][0x150]\nI2I.U8.S32 R4, R6\nMOV R0, RZ"
    assert bound(counter("ISETP.LT.AND P0, PT, R0, R4, PT", start=convert), x150=12) is None


def test_products_of_unoptimised_code_are_followed():
    product = "MOV R6, c[0x0][0x150]\nIMUL R4, R6, 0x3\nMOV R0, RZ"
    assert bound(counter("ISETP.LT.AND P0, PT, R0, R4, PT", start=product), x150=4) == 11


@pytest.mark.parametrize(("table", "turns"), [("0xf8", 3), ("0xfe", 3), ("0xc0", None), ("0x78", None)])
def test_a_test_of_several_words_at_once_tests_each_that_it_covers(table, turns):
    """`R0 >> 2 | (R4 & R5)` is 0 only where both are; of a conjunction, or where bits may cancel, nothing is known of the counter."""
    start = "LDG.E R4, [R2]\nLDG.E R5, [R2+0x4]\nMOV R0, RZ"
    words = f"LOP3.LUT P0, RZ, R1, R4, R5, {table}, !PT"
    loop = counter(words, start=start, step="IADD3 R0, R0, 0x1, RZ\nSHF.R.U32.HI R1, RZ, 0x2, R0").replace("@P0", "@!P0")
    assert bound(loop, "sm_75") == turns


REMAINDER = """
        LDG.E R4, [R2]
        LOP3.LUT R5, R4, 0x3, RZ, 0xc0, !PT
        ISETP.NE.AND P1, PT, R5, 0x3, PT
        @!P1 EXIT
        IADD3 R4, R4, 0x1, RZ
        LOP3.LUT R5, R4, 0x3, RZ, 0xc0, !PT
        IADD3 R0, -R5, RZ, RZ
"""


def test_a_remainder_that_a_guard_keeps_from_zero_is_counted_down():
    found = counter("ISETP.NE.AND P0, PT, R0, RZ, PT", "IADD3 R0, R0, 0x1, RZ", REMAINDER)
    (one,) = loops(found, "sm_80")
    assert (one.bound, one.reason) == (2, "R0 from -3 to -1, plus 1 per iteration, at most -2")


def test_a_remainder_that_may_be_zero_has_no_bound():
    found = counter("ISETP.NE.AND P0, PT, R0, RZ, PT", "IADD3 R0, R0, 0x1, RZ", REMAINDER.replace("0x3, PT", "0x2, PT"))
    (one,) = loops(found, "sm_80")
    assert one.bound is None


def test_a_remainder_by_eight_is_not_told_apart():
    found = counter("ISETP.NE.AND P0, PT, R0, RZ, PT", "IADD3 R0, R0, 0x1, RZ", REMAINDER.replace("0x3", "0x7"))
    (one,) = loops(found, "sm_80")
    assert one.bound is None


def test_memory_gives_no_bound():
    (one,) = loops(counter("ISETP.LT.AND P0, PT, R0, R4, PT", body="LDG.E R4, [R2]"))
    assert (one.bound, one.advice) == (None, "depends on memory, read by LDG at 0x0010")


def test_few_bits_of_memory_give_a_bound():
    assert bound(counter("ISETP.LT.AND P0, PT, R0, R4, PT", start="LDG.E R4, [R2]\nLOP32I.AND R4, R4, 0x7\nMOV R0, RZ")) == 6


def test_a_counter_that_may_step_over_the_limit_has_no_bound():
    assert bound(counter("ISETP.LE.AND P0, PT, R0, c[0x0][0x150], PT"), x150=0x7FFFFFFF) is None


def test_a_counter_that_wraps_around_before_it_meets_the_limit_is_followed():
    assert bound(counter("ISETP.NE.AND P0, PT, R0, 0x5, PT", start="MOV32I R0, 0xfffffffb")) == 9


def test_a_counter_that_jumps_over_what_it_should_meet_has_no_bound():
    assert bound(counter("ISETP.NE.AND P0, PT, R0, 0x9, PT", step="IADD32I R0, R0, 0x4")) is None


def test_steps_of_different_size_count_as_the_smallest():
    text = counter("ISETP.LT.AND P0, PT, R0, 0x64, PT", body="LDG.E R4, [R2]\nISETP.GT.AND P1, PT, R4, RZ, PT\n@P1 IADD32I R0, R0, 0x4")
    assert bound(text) == 99


def test_a_step_that_may_not_happen_gives_no_bound():
    text = counter(
        "ISETP.LT.AND P0, PT, R0, 0x64, PT", body="LDG.E R4, [R2]\nISETP.GT.AND P1, PT, R4, RZ, PT", step="@P1 IADD32I R0, R0, 0x4"
    )
    assert bound(text) is None


def test_a_way_back_that_tests_nothing_gives_no_bound():
    text = """
        MOV R0, RZ
    head:
        IADD32I R0, R0, 0x1
        LDG.E R4, [R2]
        ISETP.GT.AND P1, PT, R4, RZ, PT
        @P1 BRA head
        ISETP.LT.AND P0, PT, R0, 0x64, PT
        @P0 BRA head
        EXIT
    """
    assert bound(text) is None


def test_a_predicate_of_threads_that_enter_a_loop_elsewhere_is_not_that_of_its_head():
    text = """
        MOV R0, RZ
        MOV R2, 0x3
        MOV R3, c[0x0][0x160]
    head:
        ISETP.GE.AND P0, PT, R2, R2, PT
        @P0 BRA inside
        BRA inner
    halved:
        @!P0 SHF.R.U32.HI R2, RZ, 0x1, R2
        BRA down
    inside:
        IADD3 R3, R3, -0x1, RZ
        ISETP.NE.AND P1, PT, R3, RZ, PT
        @P1 BRA halved
    inner:
        IADD3 R2, R2, -0x1, RZ
        ISETP.NE.AND P0, PT, R0, RZ, PT
        @!P0 BRA head
    down:
        LOP3.LUT R3, R3, RZ, RZ, 0xc0, !PT
        ISETP.GT.AND P0, PT, R2, c[0x0][0x168], PT
        @P0 BRA halved
        ISETP.LT.AND P1, PT, R3, RZ, PT
        @P1 BRA inside
        EXIT
    """
    outer, *_ = loops(text, "sm_80", x160=1, x168=0xFFFFFFFF)
    assert outer.bound is None


def test_the_tightest_of_several_exits_counts():
    text = """
        MOV R0, RZ
    head:
        ISETP.GE.AND P1, PT, R0, 0x1e, PT
        @P1 EXIT
        IADD32I R0, R0, 0x1
        LDG.E R4, [R2]
        ISETP.GT.AND P2, PT, R4, RZ, PT
        @P2 BRA out
        ISETP.LT.AND P0, PT, R0, 0x64, PT
        @P0 BRA head
    out:
        EXIT
    """
    assert bound(text) == 30


@pytest.mark.parametrize(("how", "turns"), [("AND", 9), ("OR", None)])
def test_a_combined_condition_bounds_where_it_implies_the_comparison(how, turns):
    body = "LDG.E R4, [R2]\nISETP.GT.AND P1, PT, R4, RZ, PT"
    assert bound(counter(f"ISETP.LT.{how} P0, PT, R0, 0xa, P1", body=body)) == turns


def test_a_flag_that_ends_the_loop_is_followed_to_its_test():
    text = """
        MOV R0, RZ
        PSETP.AND.AND P0, PT, PT, PT, PT
    head:
        @!P0 EXIT
        IADD32I R0, R0, 0x1
        ISETP.LT.AND P0, PT, R0, 0xa, PT
        BRA head
    """
    assert bound(text) == 10


def test_halving_is_turned_step_by_step():
    (one,) = loops(counter("ISETP.NE.AND P0, PT, R0, RZ, PT", step="SHR.U32 R0, R0, 0x1", start="MOV R0, c[0x0][0x8]"))
    assert (one.bound, one.reason) == (10, "followed iteration by iteration")


def test_a_block_that_is_told_halves_less_often():
    text = counter("ISETP.NE.AND P0, PT, R0, RZ, PT", step="SHR.U32 R0, R0, 0x1", start="MOV R0, c[0x0][0x8]")
    assert bound(text, block=(64, 1, 1)) == 6


STRIDED = """
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, c[0x0][0x150], PT
    @P0 EXIT
head:
    IADD R0, R0, c[0x0][0x8]
    ISETP.GE.AND P0, PT, R0, c[0x0][0x150], PT
    @!P0 BRA head
    EXIT
"""


def test_the_thread_that_starts_first_turns_most_often():
    (one,) = loops(STRIDED, block=(128, 1, 1), x150=1000)
    assert (one.bound, one.reason) == (7, "R0 from 0 to 127, plus 128 per iteration, at most 871")


def test_a_loop_that_no_thread_enters_is_never_turned():
    assert bound(STRIDED, block=(128, 1, 1), x150=0) == 0


def test_the_distance_of_two_unknown_words_bounds():
    text = """
        LDG.E R4, [R2]
        IADD32I R5, R4, 0x28
    head:
        IADD32I R4, R4, 0x8
        ISETP.NE.AND P0, PT, R4, R5, PT
        @P0 BRA head
        EXIT
    """
    assert bound(text) == 4


def test_an_inner_loop_begins_anew_in_each_turn():
    text = """
        MOV R0, RZ
    outer:
        MOV R1, RZ
    inner:
        IADD32I R1, R1, 0x1
        ISETP.LT.AND P0, PT, R1, R0, PT
        @P0 BRA inner
        IADD32I R0, R0, 0x1
        ISETP.LT.AND P1, PT, R0, 0x6, PT
        @P1 BRA outer
        EXIT
    """
    assert [one.bound for one in loops(text)] == [5, 4]


def test_a_loop_in_a_device_function_is_bounded_per_call():
    text = """
        MOV32I R0, 0x3
        CAL f
        MOV32I R0, 0x9
        CAL f
        EXIT
    f():
        IADD32I R0, R0, -0x1
        ISETP.NE.AND P0, PT, R0, RZ, PT
        @P0 BRA f
        RET
    """
    assert [one.bound for one in loops(text)] == [2, 8]


def test_pairs_are_compared_word_by_word():
    text = """
        CS2R R2, SRZ
    head:
        IADD3 R2, P0, R2, 0x3, RZ
        IADD3.X R3, RZ, R3, RZ, P0, !PT
        ISETP.GE.U32.AND P0, PT, R2, 0x64, PT
        ISETP.GE.AND.EX P0, PT, R3, RZ, PT, P0
        @!P0 BRA head
        EXIT
    """
    assert bound(text, "sm_80") == 33


def test_the_borrow_of_the_low_words_decides_until_pascal():
    text = """
        MOV R2, RZ
        MOV R3, RZ
        MOV32I R4, 0x64
    head:
        IADD32I R2.CC, R2, 0x3
        IADD.X R3, RZ, R3
        IADD RZ.CC, R2, -R4
        ISETP.GE.X.AND P0, PT, R3, RZ, PT
        @!P0 BRA head
        EXIT
    """
    assert bound(text) == 33


def test_a_difference_to_zero_borrows_nothing():
    text = """
        MOV32I R2, 0x5
        IADD RZ.CC, R2, -c[0x0][0x150]
        ISETP.GE.X.AND P0, PT, RZ, RZ, PT
        SEL R4, R2, RZ, !P0
        MOV R0, RZ
    head:
        IADD32I R0, R0, 0x1
        ISETP.GT.AND P0, PT, R0, R4, PT
        @!P0 BRA head
        EXIT
    """
    assert (bound(text, x150=6), bound(text, x150=0)) == (5, 0)


def test_a_step_of_32_bits_keeps_its_sign():
    test = "ISETP.LT.AND P0, PT, R0, c[0x0][0x150], PT"
    assert bound(counter(test, step="IADD32I R0, R0, 0x80000"), x150=0x1000000) == 31


def test_a_number_of_64_bits_has_a_high_word():
    start = "UMOV.64 UR4, 0x500000001\nMOV R0, UR5"
    assert bound(counter("ISETP.NE.AND P0, PT, R0, RZ, PT", step="IADD3 R0, R0, -0x1, RZ", start=start), "sm_120") == 4


def test_a_table_of_bits_may_not_depend_on_its_inputs():
    start = "LOP3.LUT R4, R2, RZ, RZ, 0xc0, !PT\nIADD3 R4, R4, 0x8, RZ\nMOV R0, RZ"
    assert bound(counter("ISETP.LT.AND P0, PT, R0, R4, PT", step="IADD3 R0, R0, 0x1, RZ", start=start), "sm_80") == 7


def test_a_uniform_counter_is_one():
    text = """
        UMOV UR4, URZ
    head:
        UIADD3 UR4, UR4, 0x1, URZ
        UISETP.GE.AND UP0, UPT, UR4, 0x8, UPT
        PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0
        @!P0 BRA head
        EXIT
    """
    assert bound(text, "sm_80") == 7


def test_an_instruction_that_does_not_matter_forgets_what_it_writes():
    # The early test of P0 matters to nobody in between; the guard of the EXIT is another one.
    text = """
        ISETP.EQ.AND P0, PT, RZ, 0x1, PT
        LDG.E R4, [R2]
        @P0 IADD32I R5, R5, 0x1
        ISETP.GE.AND P0, PT, R4, 0x1, PT
        @!P0 EXIT
        MOV R0, RZ
    head:
        IADD32I R0, R0, 0x1
        ISETP.GE.AND P0, PT, R0, R5, PT
        @!P0 BRA head
        EXIT
    """
    assert bound(text) is None


def test_a_bound_that_runs_refute_is_none():
    cfg = assemble(counter("ISETP.LT.AND P0, PT, R0, 0xa, PT")).graph()
    lie = Inferred(0, cfg.nodes[cfg.loops[0].head].start, 8, "a lie")
    (held,) = check_bounds(cfg, tables.load("sm_61").facts, LaunchConfiguration(), (lie,)).results
    assert (held.bound, held.reason, held.refutation) == (None, "", Refutation(8, 9, "a lie"))


HALVING = """
    LDG.E R5, [R2]
    MOV32I R0, 0x40
head:
    IMUL R5, R5, R5
    SHR.U32 R0, R0, 0x1
    ISETP.NE.AND P0, PT, R0, RZ, PT
    ISETP.NE.AND P1, PT, R5, c[0x0][0x154], P0
    @P1 BRA head
    EXIT
"""


def test_a_loop_without_a_counter_is_followed_iteration_by_iteration():
    (loop,) = loops(HALVING)
    assert (loop.bound, loop.reason) == (6, "followed iteration by iteration")


def test_a_function_in_which_too_much_is_followed_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial, "_WORK_LEAST", 8)
    monkeypatch.setattr(trial, "_WORK_EACH", 0)
    (loop,) = loops(HALVING.replace("0x1\n", "0x2\n"))  # a quarter
    assert loop.bound is None
    assert "more iterations than are followed one by one" in loop.advice


def test_a_comparison_that_sets_the_flags_only_is_followed():
    test = "ISET.LT.AND RZ.CC, R0, c[0x0][0x150], PT"
    text = counter(test).replace("@P0 BRA head", "BRA CC.NEU, head")
    assert bound(text, x150=12) == 11
    (loop,) = loops(text)
    assert (loop.bound, loop.advice) == (None, "pass --param 0x150=N")


def test_a_short_immediate_of_iadd3_until_pascal_is_a_signed_number():
    count = counter("ISETP.GT.AND P0, PT, R0, RZ, PT", step="IADD3 R0, R0, 0xffffb, RZ", start="MOV R0, 0x64")
    (one,) = loops(count)
    assert (one.bound, one.reason) == (19, "R0 from 100, minus 5 per iteration, at least 6")


def test_memory_is_named_once_for_several_loads():
    origins = ["memory, read by LDG at 0x0010", "memory, read by LDG at 0x0020", "the result of MUFU at 0x0030"]
    assert joined(origins[:1]) == origins[0]
    assert joined(origins) == "memory, read by LDG at 0x0010 and LDG at 0x0020; the result of MUFU at 0x0030"
