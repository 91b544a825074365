"""All experiments of the four papers, one after the other, with what each is expected to take: docs/papers.md, made again."""

from __future__ import annotations

import csv
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from _lib import papers_page
from _lib.written import written

from sassan.plurals import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

_ROOT = papers_page.ROOT
_LONGEST = 120.0
"""Seconds of one command of the page."""


@dataclass(frozen=True, slots=True)
class Part:
    """One experiment: `quick` and `whole` are the seconds that it is expected to take on an idle core; `run` gets the folder and `quick`.

    `needs` are modules of optional extras without which it is omitted.
    """

    name: str
    summary: str
    quick: float
    whole: float
    run: Callable[[Path, bool], int]
    needs: tuple[str, ...] = ()


def _numbers(folder: Path, quick: bool) -> int:
    """Run the commands of the page and compare what they print; a row in numbers.csv for each."""
    results: list[tuple[str, str, str, str, str]] = []
    outputs: dict[str, tuple[str, str]] = {}
    for row in papers_page.rows():
        if not row.command.startswith("sassan ") or (quick and row.seconds > 10) or "DIR" in row.command:  # noqa: PLR2004 - one row of ten
            continue
        if row.command not in outputs:
            outputs[row.command] = _output(row.command)
        output, status = outputs[row.command]
        missing = row.missing(output)
        status = status or ("differs" if missing else "as printed")
        results.append((row.number, row.place, row.command, "; ".join(row.prints), status))
        print(f"  {row.number:4}{status:12}{row.place}: {'; '.join(missing or row.prints)}", flush=True)
    with written(folder / "numbers.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("row", "place", "command", "prints", "status"))
        writer.writerows(results)
    good = sum(status == "as printed" for *_, status in results)
    print(f"  {good} of {len(results)} rows are as the page says")
    return int(good < len(results))


def _output(command: str) -> tuple[str, str]:
    """Everything that a command of the page prints, and `time limit` where it was ended, or found no time to."""
    words = [sys.executable, "-P", "-m", "sassan", *shlex.split(command)[1:]]
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=_ROOT, timeout=_LONGEST, check=False)  # noqa: S603 - this program
    except subprocess.TimeoutExpired:
        return "", "time limit"
    return done.stdout + done.stderr, "time limit" if "time limit reached" in done.stdout else ""


def _makespan(name: str) -> Callable[[Path, bool], int]:
    def run(folder: Path, quick: bool) -> int:
        from _lib import makespan_experiment  # noqa: PLC0415 - draws, which needs an extra

        return makespan_experiment.run(folder / "makespan", 10.0 if quick else 60.0, (name,))

    return run


def _case_study(folder: Path, quick: bool) -> int:
    from _lib import case_study_experiment  # noqa: PLC0415

    (folder / "makespan").mkdir(exist_ok=True)
    return case_study_experiment.run(folder / "makespan" / "case-study.csv", range(1, 17 if quick else 23), 30.0 if quick else 300.0, 8.0)


def _cfg(folder: Path, quick: bool) -> int:
    from _lib import cfg_experiment  # noqa: PLC0415

    return cfg_experiment.run(_ROOT / "samples" / "sm_61", folder / "cfg_sm_61.csv", 10, every=5 if quick else 1)


def _measure(folder: Path, quick: bool) -> int:
    from _lib import measure_experiment  # noqa: PLC0415

    return measure_experiment.run(folder / "measure.csv", 20 if quick else 300)


def _evolve(folder: Path, quick: bool) -> int:
    from _lib import evolve_experiment  # noqa: PLC0415

    names = ("fir",) if quick else ("matmul", "fir")
    return evolve_experiment.run(
        [str(_ROOT / "samples" / "evolve" / f"{name}.toml") for name in names], folder / "evolve.csv", 1 if quick else 10
    )


PARTS = (
    Part("numbers", "every number that a command of sassan prints", 90, 90, _numbers),
    Part("schedules", "2011 Figure 2, 2013 Figures 2 to 7", 5, 5, _makespan("schedules"), ("matplotlib",)),
    Part("counterexamples", "schedules that exceed published bounds", 20, 60, _makespan("counterexamples"), ("matplotlib",)),
    Part("figure-5", "2011 Figure 5: time of short and long rows", 30, 60, _makespan("figure-5"), ("matplotlib",)),
    Part("figure-6", "2011 Figure 6: LLCLL, W = 600", 25, 40, _makespan("figure-6"), ("matplotlib",)),
    Part("figure-7", "2011 Figure 7: LCLCL, W = 420", 30, 70, _makespan("figure-7"), ("matplotlib",)),
    Part("figure-12", "2013 Figure 12: annealing, 16 warps", 40, 140, _makespan("figure-12"), ("matplotlib",)),
    Part("case-study", "2013, section VIII: 1 to 16 warps (22)", 60, 240, _case_study),
    Part("cfg", "2023, section 4: every fifth kernel (all)", 20, 400, _cfg),
    Part("measure", "Mazurek: estimators where the truth is known", 40, 400, _measure, ("numpy",)),
    Part("evolve", "Mazurek: evolution against random search", 60, 3600, _evolve, ("deap", "scipy")),
)
"""The experiments, in the order in which `all` runs them."""


def listed(*, quick: bool) -> str:
    """The experiments with the seconds that each is expected to take."""
    return "".join(f"{part.name:18}{part.quick if quick else part.whole:>6.0f} s  {part.summary}\n" for part in PARTS)


def run(folder: Path, only: Collection[str], *, quick: bool) -> int:
    """Run the experiments, all or those of `only`, into a folder; 1 where one differs from the page, or ends with an error."""
    unknown = sorted(set(only) - {part.name for part in PARTS})
    if unknown:
        print(f"error[usage]: no experiment '{unknown[0]}'\nhint: one of {', '.join(part.name for part in PARTS)}", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [part for part in PARTS if not only or part.name in only]
    expected = [part.quick if quick else part.whole for part in chosen]
    print(f"{count_of(len(chosen), 'experiment')}, about {_minutes(sum(expected))} on an idle machine; results in {folder}", flush=True)
    begin, statuses = time.monotonic(), dict[str, str]()
    for at, (part, seconds) in enumerate(zip(chosen, expected, strict=True)):
        rest = _minutes(sum(expected[at:]))
        print(f"[{at + 1}/{len(chosen)}] {part.name}: {part.summary} (about {seconds:.0f} s; {rest} to go)", flush=True)
        statuses[part.name] = _status(part, folder, quick=quick)
        print(f"[{at + 1}/{len(chosen)}] {part.name}: {statuses[part.name]}, {time.monotonic() - begin:.0f} s since the start", flush=True)
    print("\n".join(f"{name:18}{status}" for name, status in statuses.items()))
    return int(any(status != "done" and not status.startswith("omitted") for status in statuses.values()))


def _status(part: Part, folder: Path, *, quick: bool) -> str:
    """What became of an experiment, in words; one that fails ends no other."""
    from sassan.errors import SassanError  # noqa: PLC0415 - the list needs none of it

    missing = [name for name in part.needs if find_spec(name) is None]
    if missing:
        return f"omitted: {missing[0]} is not installed"
    try:
        return "done" if part.run(folder, quick) == 0 else "differs"
    except SassanError as error:
        return f"omitted: {error.message}" if error.status == 4 else f"failed: {error.message}"  # noqa: PLR2004 - a tool is missing


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} s"  # noqa: PLR2004 - below, seconds say more
