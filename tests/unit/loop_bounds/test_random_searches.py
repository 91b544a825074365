"""Random searches by halves, held to a plain walk of their words from corners, with the outcomes of comparisons that keep most of them."""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from budget import FULL, part
from listing import assemble
from sassan.ipet.loop_bounds import infer
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration

PROGRAMS = part(300, of=6)
SEEDS = range(6 if FULL else 2)
SIZE = 1 << 32
FEW = 100
"""More back edges are those of a counter, not of halves."""
CORNERS = (0, 1, 2, 3, 5, 8, 100, (1 << 31) - 2, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, SIZE - 2, SIZE - 1)
RELATIONS = ("LT", "LE", "GT", "NE", "LT.U32", "LE.U32", "GT.U32")


def number(word: int, signed: bool) -> int:
    return word - SIZE if signed and word >> 31 else word


def holds(relation: str, low: int, high: int) -> bool:
    """Say whether two words are in a relation."""
    name, _, unsigned = relation.partition(".")
    a, b = number(low, not unsigned), number(high, not unsigned)
    return {"LT": a < b, "LE": a <= b, "GT": a > b, "NE": a != b}[name]


@dataclass(frozen=True)
class Search:
    """One search: its shift, how each side moves its end, and the tests before the loop, at its top and at its bottom."""

    signed: bool
    rounded: bool
    """Whether the half is rounded towards 0, as division does; with a sign."""
    low: tuple[bool, int]
    """Whether it moves to the middle, and what is added."""
    high: tuple[bool, int]
    before: str
    top: str
    bottom: str
    more: int

    def text(self) -> str:
        """Return the program: it goes on where a test holds."""
        lines = ["LDG.E R4, [R2.64]", "LDG.E R5, [R2.64+0x4]"]
        lines += _tested("P1", self.before) if self.before else []
        lines += ["head:", *(_tested("P1", self.top) if self.top else []), "IADD3 R6, R5, -R4, RZ"]
        lines += ["LEA.HI R6, R6, R6, RZ, 0x1"] if self.rounded else []
        lines += [f"SHF.R.{'S32' if self.signed else 'U32'}.HI R6, RZ, 0x1, R6", f"IADD3 R7, R6, R4, {self.more:#x}", "LDG.E R8, [R2.64]"]
        lines += ["ISETP.NE.AND P0, PT, R8, RZ, PT"]
        lines += [f"@P0 IADD3 R4, {'R7' if self.low[0] else 'R4'}, {self.low[1]:#x}, RZ"]
        lines += [f"@!P0 IADD3 R5, {'R7' if self.high[0] else 'R5'}, {self.high[1]:#x}, RZ"]
        lines += [f"ISETP.{self.bottom}.AND P1, PT, R4, R5, PT", "@P1 BRA head"] if self.bottom else ["BRA head"]
        return "\n".join([*lines, "EXIT"])

    def steps(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return the ends with which a back edge may be taken."""
        length = high - low
        length += length % SIZE >> 31 if self.rounded else 0
        half = (number(length % SIZE, self.signed) >> 1) % SIZE
        middle = low + half + self.more
        left = ((middle if self.low[0] else low) + self.low[1]) % SIZE, high
        right = low, ((middle if self.high[0] else high) + self.high[1]) % SIZE
        ways = [left, right] if not self.top or holds(self.top, low, high) else []
        return [way for way in ways if not self.bottom or holds(self.bottom, *way)]

    def turns(self, low: int, high: int, most: int, random: Random) -> int:
        """Return how many back edges are taken, up to one more than allowed."""
        if self.before and not holds(self.before, low, high):
            return 0
        for count in range(most + 1):
            ways = self.steps(low, high)
            if not ways:
                return count
            low, high = max(ways, key=lambda way: (way[1] - way[0]) % SIZE) if random.random() < 0.9 else random.choice(ways)
        return most + 1


def _tested(predicate: str, relation: str) -> list[str]:
    return [f"ISETP.{relation}.AND {predicate}, PT, R4, R5, PT", f"@!{predicate} EXIT"]


def draw(random: Random) -> Search:
    """Return a search as people write it, but for up to three things."""
    made = Search(
        False, False, (True, 1), (True, 0), *random.choice((("LT", "", "LT"), ("", "LT", ""), ("NE", "", "NE"), ("", "", "LT.U32"))), 0
    )
    changes: list[dict[str, Any]] = [
        {"signed": True},
        {"signed": random.random() < 0.9, "rounded": True},
        {"low": (random.random() < 0.8, random.choice((0, 1, 2, -1)))},
        {"high": (random.random() < 0.8, random.choice((0, 1, -1)))},
        {"before": random.choice(("", *RELATIONS))},
        {"top": random.choice(RELATIONS)},
        {"bottom": random.choice(RELATIONS)},
        {"more": random.choice((1, -1))},
    ]
    for change in random.sample(changes, random.choice((0, 1, 1, 2, 3))):
        made = replace(made, **change)
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_no_search_turns_more_often_than_its_bound_says(seed: int):
    random, bounded, reached = Random(seed), 0, 0
    for _ in range(PROGRAMS):
        search = draw(random)
        (loop,) = infer(assemble(search.text(), "sm_80").graph(), tables.load("sm_80").facts, LaunchConfiguration())
        if loop.bound is None or loop.bound > FEW:
            continue
        bounded += 1
        starts = [(random.choice(CORNERS), random.choice(CORNERS)) for _ in range(60)]
        turns = max(search.turns(low, high, loop.bound, random) for low, high in starts)
        assert turns <= loop.bound, search
        reached += turns == loop.bound
    assert bounded > PROGRAMS // 5
    assert reached
