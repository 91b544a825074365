"""The instances of the papers, of the test vectors, and of the samples, for experiments and benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sassan.makespan.configuration import capacities, intervals, latencies
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse

ROOT = Path(__file__).resolve().parents[2]
ONES = "L=1,C=1"


@dataclass(frozen=True)
class Case:
    """An instance; `exact` is the longest makespan if known, `label` replaces a long string.

    `times` are slots on the unit and until the next instruction, by letter (`T=2/6`); `block` is the number of warps that wait for each
    other at B. Both are beyond the papers.
    """

    string: str
    warps: int
    cap: str = ONES
    issue: int | None = None
    exact: int | None = None
    label: str = ""
    times: str = ""
    block: int | None = None

    @property
    def name(self) -> str:
        """Return a short name, also fit for a file."""
        beyond = f"{'-' + self.times.replace('=', '').replace('/', 'of') if self.times else ''}{f'-B{self.block}' if self.block else ''}"
        return f"{self.label or self.string}-{self.cap.replace('=', '').replace(',', '').replace('/', 'of')}{beyond}-W{self.warps}"

    @property
    def problem(self) -> Problem:
        """Return the instance with fractions removed."""
        parts = [part.partition("/") for part in self.times.split(",") if part]
        held = intervals(",".join(first for first, _, _ in parts)) if parts else {}
        lasts = latencies(",".join(f"{first.partition('=')[0]}={slots}" for first, _, slots in parts)) if parts else {}
        return problem((parse(self.string),) * self.warps, Processor(capacities(self.cap), lasts, self.issue, held), self.block)


def voronoi(warps: int, exact: int | None = None) -> Case:
    """Return the case study of Berezovskyi et al. 2013 (section VIII)."""
    return Case("L5C9L2C9", warps, "L=1,C=4", 4, exact)


VECTORS = {
    ("LC", ONES): (2, 3, 4, 5, 6, 7, 8, 9),
    ("LLC", ONES): (3, 5, 7, 9, 11, 13, 15, 17),
    ("LCL", ONES): (3, 4, 7, 9, 11, 13, 15, 17),
    ("LCCL", ONES): (4, 6, 8, 10, 12, 14, 16, 18),
    ("LLCL", ONES): (4, 7, 10, 13, 16, 19, 22, 25),
    ("LLCLL", ONES): (5, 9, 13, 17, 21, 25, 29, 33),
    ("LCLCL", ONES): (5, 6, 11, 14, 17, 20, 23, 26),
    ("LLCLLCLL", ONES): (8, 13, 20, 26, 32, 38, 44, 50, 56),
    ("LLLCCC", ONES): (6, 11, 16, 21, 26, 31),
    ("LCCL", "L=1,C=2"): (4, 5, 6, 10, 12, 14, 16, 18),
    ("CCLCC", "L=1,C=2"): (5, 6, 7, 10, 13, 15, 17, 19),
    ("LLC", "L=2,C=4"): (3, 3, 5, 6, 7, 8, 9, 10),
    ("LCL", "L=2,C=4"): (3, 3, 4, 4, 7, 8, 9, 10),
}
"""Longest makespans for W = 1, 2, 3, …, by exhaustive search."""
VORONOI = (25, 31, 37, 45, 65, 78, 87, 98)
"""Those of the case study."""


def vector(string: str, cap: str, warps: int) -> Case:
    """Return one test vector."""
    return Case(string, warps, cap, None, VECTORS[string, cap][warps - 1])


@dataclass(frozen=True)
class Counterexample:
    """A published bound that a schedule exceeds."""

    case: Case
    formula: str
    claimed: int
    longer: int


COUNTEREXAMPLES = (
    Counterexample(Case("CC", 4, "C=2"), "2011 Eq. 5", 4, 5),
    Counterexample(Case("CCCC", 8, "C=4"), "2011 Eq. 5", 8, 11),
    Counterexample(Case("LCL", 4), "2011 Eq. 40-41 (2 T(2))", 8, 9),
    Counterexample(voronoi(7), "2011 Eq. 5", 85, 87),
    Counterexample(voronoi(8), "2011 Eq. 5", 92, 98),
    Counterexample(voronoi(8), "2011 Eq. 40-41 (2 T(4))", 90, 98),
    Counterexample(voronoi(16), "2013 section VIII ([160, 176])", 176, 184),
)
"""Every counterexample of the page: `longer` slots are possible where `claimed` were said to suffice."""
