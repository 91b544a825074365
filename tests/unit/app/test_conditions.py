"""Under which other options a baseline was made, on plain results."""

from dataclasses import replace

from sassan.app.builds.conditions import other
from sassan.app.builds.saved_results import Loop, Measure, Result

BASE = Result("k", "sm_80", "k.sass", "sha256:1", (10,) * len(Measure), "unit", "optimal", None, "L", (), (), ("a", "b"))


def loop(bound: int, source: str, head: str = "0x0010") -> Loop:
    return Loop(head, (), bound, source)


def moved(**values: object) -> Result:
    return replace(BASE, text="sha256:2", **values)  # type: ignore[arg-type]


def test_the_same_options_are_no_other_ones():
    assert other(BASE, BASE) == ()
    old = replace(BASE, loops=(loop(5, "default"), loop(3, "inferred")), assumptions=("a", "in the loops at 0x0010"))
    assert other(old, moved(loops=(loop(5, "default", "0x0040"), loop(4, "inferred")), assumptions=("b",))) == ()
    assert other(old, moved()) == ()


def test_a_bound_that_is_assumed_only_now_is_said_also_of_changed_code():
    old = replace(BASE, loops=(loop(64, "fact"),))
    assert other(old, moved(loops=(loop(5, "default"),))) == ("--loop-bound none, now 5",)
    assert other(old, moved(loops=(loop(32, "fact"),))) == ("flow facts: 64, now 32",)


def test_of_the_same_code_whatever_differs_is_said():
    assert other(BASE, replace(BASE, assumptions=("a", "c"))) == ("'b', now 'c'",)
    old = replace(BASE, loops=(loop(64, "inferred"),))
    assert other(old, replace(BASE, loops=(loop(8, "inferred"),))) == ("other loop bounds: 64, now 8",)


def test_a_launch_that_is_told_only_now_is_no_other_one():
    launched = moved(launched=True, block=128, grid=(10, 2))
    assert other(BASE, launched) == ()
    assert other(launched, moved(launched=True, block=64)) == (
        "blocks of 128 threads, now 64 threads",
        "a grid of 10 blocks on 2 SMs, now not given",
    )


def test_another_machine_is_said():
    old, new = (moved(assumptions=(f"SM of compute capability 8.0: issue {width}",)) for width in (4, 2))
    assert other(old, new) == ("SM: 8.0: issue 4, now 8.0: issue 2",)
