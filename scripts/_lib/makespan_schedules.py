"""The schedules printed in the two papers, recomputed by their algorithms and validated."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from _lib.makespan_cases import COUNTEREXAMPLES, Case
from _lib.pictures import gantt, table

from sassan.errors import SassanError
from sassan.makespan.engine import Budget
from sassan.makespan.merge import Merged
from sassan.makespan.schedule import Schedule, check
from sassan.makespan.start import Start, construct, instance, start

if TYPE_CHECKING:
    from pathlib import Path

    from sassan.makespan.engine import Engine

ROUND = (0, 0, 1, 1, 2, 2, 3, 3, 0, 1, 2, 3)
"""The pseudo-precedence string (2) of Berezovskyi et al. 2013, warps from 0."""
MOVED = (0, 0, 1, 1, 2, 2, 0, 1, 2, 3, 3, 3)
"""String (2) with warp 4 moved to the end."""
FIGURE_3 = Schedule(((0, 1, 8), (1, 2, 5), (2, 3, 6), (3, 4, 7)))
"""Figure 2 of Berezovskyi et al. 2013 with one instruction moved by hand: not work-conserving."""


def best(case: Case, engine: Engine, budget: Budget | None = None) -> Merged:
    """Return the validated result of an engine for an instance."""
    known = Merged(case.problem)
    known(engine.run(case.problem, budget or Budget(), known))
    return known


def validation_text(case: Case, schedule: Schedule) -> str:
    """Return the result of the validator."""
    try:
        check(case.problem, schedule)
    except SassanError as error:
        return f"refused: {error.message}"
    return "accepted"


def figures(folder: Path, exact: Engine) -> None:
    """Write 2011 Figure 2 and 2013 Figures 2 to 7: pictures, cells, and a table of makespans beside the true worst case."""
    lcl, lccl = Case("LCL", 4), Case("LCCL", 3)
    shown = {
        "2011-figure-2": (
            Case("LLC", 4),
            construct(instance(Case("LLC", 4).problem), (0, 1, 2, 3, 0, 0, 1, 1, 2, 2, 3, 3)),
            "a possible schedule",
        ),
        "2013-figure-2": (lcl, construct(instance(lcl.problem), ROUND), "a possible schedule, pseudo-precedence string (2)"),
        "2013-figure-3": (lcl, FIGURE_3, "an invalid solution"),
        "2013-figure-5": (lcl, construct(instance(lcl.problem), MOVED), "a valid neighbour, warp 4 moved to the end"),
        "2013-figure-6": (lccl, _template(lccl, Start.FIXED_PRIORITY), "fixed priority"),
        "2013-figure-7": (lccl, _template(lccl, Start.MOST_PENDING), "most pending warp executes first"),
    }
    rows: list[tuple[object, ...]] = []
    for name, (case, schedule, caption) in shown.items():
        verdict, worst = validation_text(case, schedule), best(case, exact)
        gantt(folder / name, case.problem, schedule, f"{name}: {case.string}, {case.warps} warps", (caption, f"validator: {verdict}"))
        rows.append((name, case.string, case.warps, caption, schedule.makespan, worst.exact, verdict))
        if worst.schedule is not None:
            facts = (f"{worst.exact} slots; {name} has {schedule.makespan}",)
            gantt(
                folder / f"{name}-worst", case.problem, worst.schedule, f"the longest schedule of {case.string}, {case.warps} warps", facts
            )
    table(folder / "schedules", ("figure", "string", "warps", "what", "slots", "longest possible", "validator"), rows)
    _figure_4(folder, lcl)


def _template(case: Case, kind: Start) -> Schedule:
    given = instance(case.problem)
    return construct(given, start(given, kind))


def _figure_4(folder: Path, case: Case) -> None:
    """Write the result of the algorithm of 2013 Figure 4 for two strings: the warp cycle string of section VII."""
    rows: list[tuple[object, ...]] = []
    for name, string in (("string (2)", ROUND), ("warp 4 last", MOVED)):
        schedule = construct(instance(case.problem), string)
        taken = [0] * case.warps
        for place, warp in enumerate(string, 1):
            rows.append((name, place, warp + 1, schedule.slots[warp][taken[warp]] + 1))
            taken[warp] += 1
    table(folder / "2013-figure-4", ("pseudo-precedence string", "place", "warp (from 1)", "clock cycle (from 1)"), rows)


def counterexamples(folder: Path, engine: Engine, seconds: float) -> list[str]:
    """Write the table of published bounds that are exceeded by schedules, with the schedules; return those not reproduced."""
    rows: list[tuple[object, ...]] = []
    missing: list[str] = []
    for counterexample in COUNTEREXAMPLES:
        known = best(counterexample.case, engine, Budget(deadline=time.monotonic() + seconds))
        name = f"counterexample-{counterexample.case.name}"
        if known.schedule is None or known.lower is None or known.lower <= counterexample.claimed:
            missing.append(f"{name}: {known.lower} slots found, more than {counterexample.claimed} expected")
            continue
        facts = (f"{counterexample.formula} says {counterexample.claimed} suffice",)
        gantt(
            folder / name,
            counterexample.case.problem,
            known.schedule,
            f"{counterexample.case.string}, {counterexample.case.warps} warps: {known.lower} slots",
            facts,
        )
        rows.append(
            (
                counterexample.case.string,
                counterexample.case.cap,
                counterexample.case.issue,
                counterexample.case.warps,
                counterexample.formula,
                counterexample.claimed,
                known.lower,
                known.exact,
                f"{name}.svg",
                "solved" if known.exact is not None else "time limit",
            )
        )
    head = (
        "string",
        "capacities",
        "issue",
        "warps",
        "formula",
        "claimed upper bound",
        "slots of a schedule",
        "exact",
        "schedule",
        "status",
    )
    table(folder / "counterexamples", head, rows)
    return missing
