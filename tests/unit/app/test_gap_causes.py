"""Gaps by cause: what one line closes is one cause, and the line can be pasted."""

import pytest

from sassan.app.gap_causes import causes, remedy
from sassan.errors import Gap

LOOP = "the loop at 0x00c8 has no bound"


@pytest.mark.parametrize(
    ("gap", "line"),
    [
        (Gap(8, "unbounded-loop", f"{LOOP}: pass --param n=N, --bounds or --loop-bound"), "--param n=N"),
        (
            Gap(8, "unbounded-loop", f"{LOOP}: pass --block-dim --grid --param 0x148=N, --bounds or --loop-bound"),
            "--block-dim X,Y,Z --grid X,Y,Z --param 0x148=N",
        ),
        (Gap(8, "unbounded-loop", f"{LOOP} (depends on memory, read by LDG at 0x00e8): pass --bounds or --loop-bound"), "--loop-bound N"),
        (
            Gap(8, "no-latency", "the latency of ERRBAR is unknown: --latency fence=N gives the most cycles that it takes"),
            "--latency fence=N",
        ),
        (Gap(8, "unknown-argument", "how often this loop iterates depends: --param n=N, --param m=N"), "--param n=N --param m=N"),
        (Gap(8, "too-large", "the exploration was stopped: 9 states; pass --call-depth N"), "--call-depth N"),
        (Gap(8, "unknown-clock", "the recording has a time but no clock: pass --clock MHZ"), "--clock MHZ"),
        (Gap(8, "indirect-branch", "BRX jumps through a table"), "sassan ipet FILE -f NAME --facts-template > facts.toml"),
        (
            Gap(8, "external-function", 'the input does not contain f: give its cost in a --bounds file: [external.f] cost = N, or calls = "never"'),
            "external.f.cost = N   (a line of a file for --bounds)",
        ),
        (Gap(8, "recursion", "CAL calls a function that is already running"), ""),
    ],
)  # fmt: skip
def test_what_closes_a_gap_can_be_pasted(gap: Gap, line: str):
    assert remedy(gap) == line


def test_gaps_that_one_line_closes_are_one_cause():
    gaps = [
        Gap(at, "no-latency", f"the latency of {opcode} is unknown: --latency fence=N gives it") for at, opcode in ((8, "A"), (16, "B"))
    ]
    (cause,) = causes([("f", gaps), ("g", gaps[:1])])
    assert (cause.places, cause.functions, cause.message) == ((("f", 8), ("f", 16), ("g", 8)), 2, gaps[0].message)


def test_gaps_that_nothing_closes_are_one_cause_where_they_differ_in_addresses_alone():
    one, two, other = (Gap(at, "bad-target", f"{text} names 0x{at:04x}") for at, text in ((8, "BRA"), (16, "BRA"), (24, "JMP")))
    assert [len(cause.places) for cause in causes([("f", (one, two, other))])] == [2, 1]
