"""Bounds against recorded runs of real GPUs: tuning spaces, reports of Nsight Compute, programs.

    DIR/tuner/NAME.DEVICE.json[.gz] with NAME.cu beside it, DIR/ncu/*.ncu-rep, DIR/programs/measured.csv

Per source and model: how many measurements have a bound, bound over measured, how many bounds are below; and how well estimate, roofline
and bound predict times, and rank the configurations of a tuning space. Times are turned into cycles with the clock at which the GPU ran:
the boost clock of the product, where nothing shows another one.
Into the output folder: `silicon.csv` (bounds), `silicon_predictions.csv`, `silicon_rows.csv` (a row per configuration or launch and
model), `silicon.toml` (the commit and the compiler of these figures), and a scatter plot per source.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from _lib import silicon_programs, silicon_recipes, silicon_reports, silicon_spaces
from _lib.record_programs import find_clang
from _lib.silicon_rows import Row, crossed, judgements, show, summaries, write

from sassan.errors import SassanError
from sassan.executor import Processes
from sassan.measure.figure import FORMATS
from sassan.measure.scatter import scatter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MODELS = ("control", "table")
_CODE = ("sassan", "grammars")
_WORKERS = 2
_REFUSED = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run: `sample` configurations of each tuning space (0: all), these cost models.

    Programs are compiled in `work`, a temporary folder where it is None, and get `seconds` each to run. `boost`: times are taken at the
    boost clock, whatever clock the recordings show.
    """

    folder: Path
    output: Path | None
    sample: int = 40
    models: tuple[str, ...] = MODELS
    work: Path | None = None
    seconds: float = 60.0
    boost: bool = False


def run(plan: Plan) -> int:
    """Print the summary; write it, the rows and the pictures into the output folder."""
    tuned: set[str] = set()
    all_rows = rows(plan, tuned)
    if not all_rows:
        print(f"no recording under {plan.folder}: tuner/*.json(.gz), ncu/*.ncu-rep", file=sys.stderr)
        return _REFUSED
    sums, predictions = summaries(all_rows), judgements(all_rows, frozenset(tuned))
    show(sums, predictions)
    if plan.output is not None:
        plan.output.mkdir(parents=True, exist_ok=True)
        write(sums, plan.output / "silicon.csv")
        write(predictions, plan.output / "silicon_predictions.csv")
        write(all_rows, plan.output / "silicon_rows.csv")
        (plan.output / "silicon.toml").write_text(made_with(), "utf-8")
        _draw(all_rows, plan.output)
        print(f"written: {plan.output}")
    return 0


def made_with() -> str:
    """Return the last commit that changed the code, `+` where it was changed since, and the clang that compiles programs, as TOML."""
    git = ("git", "-C", str(Path(__file__).resolve().parents[2]))
    commit = _printed(*git, "log", "-1", "--format=%h", "--", *_CODE) + "+" * bool(_printed(*git, "status", "--porcelain", "--", *_CODE))
    clang = find_clang()
    return f'commit = "{commit}"\nclang = "{"" if clang is None else _printed(clang, "--version").splitlines()[0]}"\n'


def _printed(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - git, and the compiler on PATH


def rows(plan: Plan, tuned: set[str]) -> list[Row]:
    """Return a row per configuration or launch and model; the names of the tuning spaces are added to `tuned`."""
    return crossed([*_spaces(plan, tuned), *_reports(plan), *_programs(plan)])


def _spaces(plan: Plan, tuned: set[str]) -> Iterator[Row]:
    """Yield the rows of every tuning space, and add the names of the spaces to `tuned`."""
    recipes = silicon_recipes.read()
    with Processes(_WORKERS) as executor:
        for path in sorted((plan.folder / "tuner").glob("*.json*")):
            try:
                space = silicon_spaces.load(path, recipes, boost=plan.boost)
            except SassanError as error:
                _refused(path, error)
                continue
            for note in silicon_spaces.notes(space, recipes):
                print(f"{path.name}: {note}")
            tuned.add(space.name)
            yield from silicon_spaces.rows(space, plan.sample, plan.models, executor)


def _programs(plan: Plan) -> Iterator[Row]:
    return silicon_programs.rows(plan.folder / "programs", plan.models, plan.work, plan.seconds, boost=plan.boost)


def _reports(plan: Plan) -> Iterator[Row]:
    for path in sorted((plan.folder / "ncu").glob("*.ncu-rep")):
        try:
            recording = silicon_reports.load(path)
            for note in recording.notes:
                print(f"{path.name}: {note}")
            for model in plan.models:
                yield from silicon_reports.rows(recording, path.name.removesuffix(".ncu-rep"), model)
        except SassanError as error:
            _refused(path, error)


def _refused(path: Path, error: SassanError) -> None:
    print(f"{path.name}: skipped: {error.code}: {error.message}", file=sys.stderr)


def _draw(rows: Sequence[Row], folder: Path) -> None:
    """Draw the bounds of each source, a series per model; a part that is summed up alone is a series of its own."""
    for source in dict.fromkeys(row.source for row in rows):
        some = [row for row in rows if row.source == source and row.pair is not None]
        parts = any(row.group for row in some)
        series: dict[str, list[tuple[float, float]]] = {}
        for row in some:
            name = f"bound, {row.model}" + (f", {row.group or 'other code'}" if parts else "")
            series.setdefault(name, []).append((row.measured_cycles or 0.0, float(row.bound_cycles or 0)))
        for form in FORMATS if series else ():
            scatter(folder / f"{source}.{form}", series, source)
