"""`sassan measure`: estimates of the time of a kernel from repeated runs, and how reliable they are."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from sassan.app import documents
from sassan.cli.measure_run import take_samples
from sassan.cli.options.inputs import Csv, Json, Quiet
from sassan.cli.output import csv as sheet
from sassan.cli.output import failure
from sassan.cli.output.files import extension, save
from sassan.cli.output.terminal import note, out, safe
from sassan.cli.reports import measure as measure_report
from sassan.cli.target_run import measure_target
from sassan.errors import SassanError, UsageError
from sassan.fields import field as fields
from sassan.measure.confidence import IntervalSettings
from sassan.measure.estimators import Estimator
from sassan.measure.figure import FORMATS
from sassan.measure.pictures import pictures
from sassan.measure.read import load, text
from sassan.measure.samples import Samples
from sassan.measure.sampling.request import MeasureRequest
from sassan.measure.summary import EstimateRowFields, EstimatorFields, MeasuredSamples, SamplesFields, rows, rows_of
from sassan.measure.verdict import verdicts

_INTERRUPTED = 130
_SOURCE = ".cu"
_MOST = 1_000_000
_LAST_GPU = 1023

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Samples, CSV or JSON (- reads standard input), or one CUDA source X.cu, which is run; with --assumptions, what its program "
        "printed on the target.",
        show_default=False,
    ),
]
Assumptions = Annotated[
    bool,
    typer.Option(
        "--assumptions",
        help="Write a CUDA program that measures on the target what bounds assume of it; with FILE, make a GPU file of what it printed.",
    ),
]
Plots = Annotated[
    str | None, typer.Option("--plots", metavar="DIR", help="Draw histogram, phase diagram and sweeps as .svg and .png into DIR.")
]
Chosen = Annotated[
    list[str] | None,
    typer.Option("--estimator", metavar="NAME", help="Only warm-up, mean-all, mean, min, median or max; may be repeated."),
]
Confidence = Annotated[float, typer.Option("--confidence", metavar="P", help="Level of the intervals, from 0.5 to 1.")]
Resamples = Annotated[int, typer.Option("--resamples", metavar="N", min=199, max=_MOST, help="Resamples of the bootstrap.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**31 - 1, help="Seed of the bootstrap's random numbers.")]
Tolerance = Annotated[
    float,
    typer.Option(
        "--tolerance", metavar="PERCENT", min=0.0001, max=100, help="An estimator with at most this spread between groups is stable."
    ),
]
Kernel = Annotated[str | None, typer.Option("--kernel", metavar="NAME", help="The kernel to measure, if X.cu has several.")]
Block = Annotated[str | None, typer.Option("--block-dim", metavar="X[,Y[,Z]]", help="Threads of a block.", show_default="32")]
Grid = Annotated[str | None, typer.Option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the grid.", show_default="1")]
Arguments = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="NAME=V",
        help="Value of a parameter: a number, or the size of a pointer's memory in bytes (16 MiB by default); may be repeated.",
    ),
]
Sweep = Annotated[
    str | None, typer.Option("--sweep", metavar="NAME=V,V,…", help="Measure with each of these values of a parameter, such as a count.")
]
Delays = Annotated[
    str | None, typer.Option("--delays", metavar="S,S,…", help="Delay before each run in seconds; several delays are interleaved.")
]
Pause = Annotated[float | None, typer.Option("--pause", metavar="S", min=0, max=3600, help="Pause before each group in seconds.")]
Runs = Annotated[int | None, typer.Option("--runs", metavar="N", min=1, max=_MOST, help="Runs of a group.", show_default="20")]
Groups = Annotated[
    int | None, typer.Option("--groups", metavar="N", min=1, max=_MOST, help="Groups of each size and delay.", show_default="5")
]
Cycles = Annotated[
    bool, typer.Option("--cycles", help="Also count the cycles of the longest thread, by a clock64 around the kernel's body.")
]
Gpu = Annotated[
    str | None,
    typer.Option("--gpu", metavar="N|NAME", help="Number of the GPU that runs; with --assumptions, the product.", show_default="0"),
]
Define = Annotated[list[str] | None, typer.Option("-D", "--define", metavar="NAME[=V]", help="A macro of the source; may be repeated.")]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="X.csv",
        help="Write the samples, .csv or .json; with --assumptions, the program (.cu) or the GPU file (.toml).",
    ),
]


def measure(
    files: Files = None,
    *,
    assumptions: Assumptions = False,
    estimator: Chosen = None,
    confidence: Confidence = 0.95,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    tolerance: Tolerance = 1.0,
    plots: Plots = None,
    kernel: Kernel = None,
    block_dim: Block = None,
    grid: Grid = None,
    arg: Arguments = None,
    define: Define = None,
    runs: Runs = None,
    groups: Groups = None,
    delays: Delays = None,
    pause: Pause = None,
    sweep: Sweep = None,
    cycles: Cycles = False,
    gpu: Gpu = None,
    output: Output = None,
    csv: Csv = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate times from samples, or take the samples.

    Runs come in groups; the first run of a group is the warm-up. Estimators: warm-up, mean-all (with the warm-up), and without it mean,
    min, median and max. An estimator is stable if its value varies by at most --tolerance between groups.

    CSV has a line per run under the columns group,run,seconds,delay,size; only seconds is required, and lines '# device: …' may
    precede them. JSON is {"groups": [{"seconds": […], "delay": 0.5, "size": 1000}]}, or a list of numbers. size is the quantity that
    the duration depends on.

    A measurement is not a bound: another run may take longer. 'sassan analyze' computes bounds. Ctrl-C keeps the samples taken so far.

    With --assumptions, a bound's figures are measured: the program, for the product that --gpu names, prints latencies, bandwidths, the
    cost of launches, and what traffic of the CPU leaves of DRAM; with that output as FILE, -o board.toml is a GPU file that --gpu takes.
    A measured figure goes over an assumed one, and over a published one where it is worse.

    \b
    Examples:
      sassan measure samples/measure/synthetic-long-tails.csv --plots pictures
      sassan measure runs.csv --estimator min --confidence 0.99 --json
      sassan measure saxpy.cu --block-dim 256 --arg n=256 --arg a=2 -o x.csv
      sassan measure saxpy.cu --arg a=2 --sweep n=1000,100000,10000000 --pause 2
      sassan measure saxpy.cu --arg n=32 --arg a=2 --delays 0,0.5,1,2,4 --cycles
      sassan measure --assumptions --gpu "Jetson Orin NX 16GB, 15W" -o m.cu
      sassan measure --assumptions a.toml --gpu "Orin NX 16GB, 15W" -o my.toml
    """
    sheet.exclude(csv=csv, json=json)
    settings = IntervalSettings(confidence, seed, resamples)
    which = _estimators(estimator)
    run_options: dict[str, object] = {
        "--kernel": kernel,
        "--block-dim": block_dim,
        "--grid": grid,
        "--arg": arg,
        "--define": define,
        "--runs": runs,
    }
    run_options |= {"--groups": groups, "--delays": delays, "--pause": pause, "--sweep": sweep}
    if assumptions:
        others = {**run_options, "--plots": plots, "--estimator": estimator, "--cycles": cycles}
        measure_target(files or (), gpu, output, others, csv=csv, json=json, quiet=quiet)
        return
    if not files:
        raise UsageError("usage", "no samples and no CUDA source are given", hint="sassan measure --help describes the files")
    run_options |= {"--gpu": gpu, "--output": output}
    printed = not quiet or (output is None and plots is None)
    reporter = _Reporter(which, settings, tolerance / 100, plots, json=json, csv=csv, quiet=quiet, printed=printed)
    sources = [file for file in files if file.lower().endswith(_SOURCE)]
    if not sources:
        option = next((name for name, value in (run_options | {"--cycles": cycles or None}).items() if value is not None), None)
        if option is not None:
            raise UsageError("usage", f"{option} applies to a run, but the files are samples", hint=f"omit it, or pass a {_SOURCE} file")
        reporter.report_files(files)
        return
    if len(files) > 1:
        raise UsageError("usage", "a CUDA source must be the only file")

    request = MeasureRequest(
        sources[0], kernel, block_dim, grid, tuple(arg or ()), tuple(define or ()), runs, groups, delays, pause, sweep, cycles, _number(gpu)
    )
    _run(request, reporter, output)


def _number(gpu: str | None) -> int | None:
    """Return the number of the GPU that runs.

    Raises UsageError.
    """
    if gpu is None:
        return None
    if not (gpu.isascii() and gpu.isdigit() and len(gpu) <= 4 and int(gpu) <= _LAST_GPU):  # noqa: PLR2004 - digits of the largest
        raise UsageError(
            "usage", f"--gpu must be a number from 0 to {_LAST_GPU}, not '{gpu[:40]}'", hint="a product is named with --assumptions"
        )
    return int(gpu)


class _Reporter:
    """Prints the report of samples as text or JSON, and draws pictures."""

    def __init__(
        self,
        which: tuple[Estimator, ...],
        settings: IntervalSettings,
        tolerance: float,
        plots: str | None,
        *,
        json: bool,
        csv: bool,
        quiet: bool,
        printed: bool,
    ) -> None:
        self._which, self._settings, self._tolerance, self._plots = which, settings, tolerance, plots
        self._json, self._csv, self.quiet = json, csv, quiet
        self._printed = printed and not (json or csv)
        self._measured: list[MeasuredSamples] = []
        self._refused: list[tuple[str, SassanError]] = []

    def report_files(self, files: list[str]) -> None:
        """Report on each file; an invalid file does not stop the others."""
        for number, file in enumerate(files):
            try:
                self._report(file, load(file), number if len(files) > 1 else None)
            except SassanError as error:
                if isinstance(error, UsageError) or error.status == 4:  # noqa: PLR2004 - a tool that is missing for one file is missing for all
                    raise
                failure.show(error, file)
                self._refused.append((file, error))
        self._end()

    def report_samples(self, file: str, samples: Samples) -> None:
        """Report on a set of samples."""
        self._report(file, samples, None)
        self._end()

    def _report(self, file: str, samples: Samples, number: int | None) -> None:

        estimates, stability = rows(samples, self._which, self._settings), verdicts(samples, self._tolerance)
        self._measured.append(MeasuredSamples(file, samples, estimates, stability))
        if self._printed:
            out(("\n" if number else "") + measure_report.text(file, samples, estimates, stability))
        if self._plots is not None:
            self._draw(samples, Path(self._plots), "" if number is None else f"{number + 1}-")

    def _draw(self, samples: Samples, folder: Path, mark: str) -> None:

        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError("unwritable-output", f"cannot make the folder '{folder}': {error.strerror or error}") from None
        drawn = pictures(samples)
        for picture in drawn:
            for form in FORMATS:
                save(folder / f"{mark}{picture.name}.{form}", picture.render(form), quiet=True)
        if not self.quiet:
            note(f"wrote {safe(', '.join(mark + picture.name for picture in drawn))} into {safe(str(folder))}\n")

    def _end(self) -> None:
        """Print the document, and exit with the highest status of a refused file.

        Raises typer.Exit.
        """
        if self._csv:
            columns = fields.heads(SamplesFields, EstimateRowFields, EstimatorFields)
            sheet.show(columns, (row for known in self._measured for row in rows_of(known)))
        if self._json:
            whole: dict[str, object] = {**documents.tool(), "samples": [fields.document(SamplesFields, each) for each in self._measured]}
            if self._refused:
                whole["errors"] = [{"file": file, **fields.document(documents.ErrorFields, error)} for file, error in self._refused]
            out(jsonlib.dumps(whole, indent=2) + "\n")
        if self._refused:
            raise typer.Exit(max(error.status for _, error in self._refused))


def _run(request: MeasureRequest, reporter: _Reporter, output: str | None) -> None:

    if output is not None:
        extension(output, ("csv", "json"))
    done = take_samples(request, quiet=reporter.quiet)
    if done.samples.groups:
        if output is not None:
            _keep(done.samples, output, quiet=reporter.quiet)
        reporter.report_samples(request.file, done.samples)
    if done.error is not None:
        raise done.error
    if done.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _keep(samples: Samples, output: str, *, quiet: bool) -> None:

    save(output, text(output, samples).encode(), quiet=quiet)


def _estimators(names: list[str] | None) -> tuple[Estimator, ...]:

    known = [estimator.value for estimator in Estimator]
    for name in names or ():
        if name not in known:
            raise UsageError("usage", f"unknown estimator '{name}'", hint=f"one of {', '.join(known)}")
    return tuple(estimator for estimator in Estimator if not names or estimator.value in names)
