"""`sassan measure`: what repeated runs say of the time of a kernel, and how far that can be trusted."""

import json as jsonlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sassan.cli import failure, measure_report, options
from sassan.cli.terminal import note, out, safe
from sassan.errors import SassanError, UsageError

if TYPE_CHECKING:
    from sassan.cli.measure_run import Wish
    from sassan.measure.confidence import Settings
    from sassan.measure.estimators import Estimator
    from sassan.measure.samples import Samples

_INTERRUPTED = 130
_SOURCE = ".cu"
_MOST = 1_000_000

Files = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Samples, CSV or JSON (- reads standard input), or one CUDA source X.cu, which is run.")
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
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**31 - 1, help="Of the bootstrap's random numbers.")]
Tolerance = Annotated[
    float,
    typer.Option("--tolerance", metavar="PERCENT", min=0.0001, max=100, help="An estimator that moves less between groups is stable."),
]
Kernel = Annotated[str | None, typer.Option("--kernel", metavar="NAME", help="Of X.cu: the kernel; needed where there are several.")]
Block = Annotated[str | None, typer.Option("--block-dim", metavar="X[,Y[,Z]]", help="Threads of a block.", show_default="32")]
Grid = Annotated[str | None, typer.Option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the grid.", show_default="1")]
Arguments = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=V", help="A parameter: a number, or for a pointer its bytes (16 MiB by default); may be repeated."),
]
Sweep = Annotated[
    str | None, typer.Option("--sweep", metavar="NAME=V,V,…", help="Measure with each value of a parameter, such as a count.")
]
Delays = Annotated[str | None, typer.Option("--delays", metavar="S,S,…", help="Seconds before each run; of several, each in turn.")]
Pause = Annotated[float | None, typer.Option("--pause", metavar="S", min=0, max=3600, help="Seconds before each group.")]
Runs = Annotated[int | None, typer.Option("--runs", metavar="N", min=1, max=_MOST, help="Runs of a group.", show_default="20")]
Groups = Annotated[
    int | None, typer.Option("--groups", metavar="N", min=1, max=_MOST, help="Groups of each size and delay.", show_default="5")
]
Cycles = Annotated[
    bool, typer.Option("--cycles", help="Also count the cycles of the longest thread, by a clock64 around the kernel's body.")
]
Gpu = Annotated[int | None, typer.Option("--gpu", metavar="N", min=0, max=1023, help="Which GPU.", show_default="0")]
Define = Annotated[list[str] | None, typer.Option("-D", "--define", metavar="NAME[=V]", help="A macro of the source; may be repeated.")]
Output = Annotated[str | None, typer.Option("-o", "--output", metavar="X.csv", help="Keep what was measured: .csv or .json.")]


def measure(
    files: Files,
    *,
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
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Read timing samples of a kernel, or take them on a GPU; estimate its time and say which estimate can be trusted.

    Runs come in groups, the first of each being the warm-up. Estimators: warm-up, mean-all (with the warm-up), and without it mean, min,
    median and max. One whose value moves by more than --tolerance between groups is not stable at that duration.

    CSV has a line per run under the columns group,run,seconds,delay,size; only seconds is needed, and lines '# device: …' may stand above.
    JSON is {"groups": [{"seconds": […], "delay": 0.5, "size": 1000}]}, or a list of numbers. size is what the duration depends on.

    A measurement is no bound: no run says how long another may take. 'sassan analyze' gives bounds. Ctrl-C keeps what was measured.

    \b
    Examples:
      sassan measure samples/measure/synthetic-long-tails.csv --plots pictures
      sassan measure runs.csv --estimator min --confidence 0.99 --json
      sassan measure saxpy.cu --block-dim 256 --arg n=256 --arg a=2 -o x.csv
      sassan measure saxpy.cu --arg a=2 --sweep n=1000,100000,10000000 --pause 2
      sassan measure saxpy.cu --arg n=32 --arg a=2 --delays 0,0.5,1,2,4 --cycles
    """
    from sassan.measure.confidence import Settings

    settings = Settings(confidence, seed, resamples)
    which = _estimators(estimator)
    told: dict[str, object] = {
        "--kernel": kernel,
        "--block-dim": block_dim,
        "--grid": grid,
        "--arg": arg,
        "--define": define,
        "--runs": runs,
    }
    told |= {"--groups": groups, "--delays": delays, "--pause": pause, "--sweep": sweep, "--gpu": gpu, "--output": output}
    say = _Say(which, settings, tolerance / 100, plots, json=json, quiet=quiet)
    sources = [one for one in files if one.lower().endswith(_SOURCE)]
    if not sources:
        spoken = next((name for name, value in (told | {"--cycles": cycles or None}).items() if value is not None), None)
        if spoken is not None:
            raise UsageError("usage", f"{spoken} speaks of a run, and these are samples", hint=f"leave it away, or name a {_SOURCE} file")
        say.all(files)
        return
    if len(files) > 1:
        raise UsageError("usage", "one CUDA source at a time, and no samples beside it")
    from sassan.cli.measure_run import Wish

    wish = Wish(sources[0], kernel, block_dim, grid, tuple(arg or ()), tuple(define or ()), runs, groups, delays, pause, sweep, cycles, gpu)
    _run(wish, say, output)


def _run(wish: "Wish", say: "_Say", output: str | None) -> None:
    from sassan.cli.files import extension
    from sassan.cli.measure_run import taken

    if output is not None:
        extension(output, ("csv", "json"))
    done = taken(wish, quiet=say.quiet)
    if done.samples.groups:
        if output is not None:
            _keep(done.samples, output, quiet=say.quiet)
        say.one(wish.file, done.samples)
    if done.error is not None:
        raise done.error
    if done.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _keep(samples: "Samples", output: str, *, quiet: bool) -> None:
    from sassan.measure.read import text
    from sassan.render.files import write_atomically

    write_atomically(Path(output), text(output, samples).encode())
    if not quiet:
        note(f"wrote {safe(output)}\n")


def _estimators(names: list[str] | None) -> "tuple[Estimator, ...]":
    from sassan.measure.estimators import Estimator

    known = [one.value for one in Estimator]
    for name in names or ():
        if name not in known:
            raise UsageError("usage", f"there is no estimator '{name}'", hint=f"one of {', '.join(known)}")
    return tuple(one for one in Estimator if not names or one.value in names)


class _Say:
    """Prints what samples say, as text or as JSON, and draws."""

    def __init__(
        self, which: "tuple[Estimator, ...]", settings: "Settings", tolerance: float, plots: str | None, *, json: bool, quiet: bool
    ) -> None:
        self._which, self._settings, self._tolerance, self._plots = which, settings, tolerance, plots
        self._json, self.quiet = json, quiet
        self._documents: list[object] = []
        self._refused: list[tuple[str, SassanError]] = []

    def all(self, files: list[str]) -> None:
        """Say what each file says; one that is refused does not hide the others."""
        from sassan.measure.read import load

        for number, file in enumerate(files):
            try:
                self._say(file, load(file), number if len(files) > 1 else None)
            except SassanError as error:
                if isinstance(error, UsageError) or error.status == 4:  # noqa: PLR2004 - a missing tool is missing for all
                    raise
                failure.show(error, file)
                self._refused.append((file, error))
        self._end()

    def one(self, file: str, samples: "Samples") -> None:
        """Say what one set of samples says."""
        self._say(file, samples, None)
        self._end()

    def _say(self, file: str, samples: "Samples", number: int | None) -> None:
        from sassan.measure.summary import document, rows
        from sassan.measure.verdict import verdicts

        found, judged = rows(samples, self._which, self._settings), verdicts(samples, self._tolerance)
        self._documents.append(document(file, samples, found, judged))
        if not self._json:
            out(("\n" if number else "") + measure_report.text(file, samples, found, judged))
        if self._plots is not None:
            self._draw(samples, Path(self._plots), "" if number is None else f"{number + 1}-")

    def _draw(self, samples: "Samples", folder: Path, mark: str) -> None:
        from sassan.measure.pictures import FORMATS, pictures
        from sassan.render.files import write_atomically

        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError("unwritable-output", f"cannot make the folder '{folder}': {error.strerror or error}") from None
        found = pictures(samples)
        for picture in found:
            for form in FORMATS:
                write_atomically(folder / f"{mark}{picture.name}.{form}", picture.render(form))
        if not self.quiet:
            note(f"wrote {safe(', '.join(mark + one.name for one in found))} into {safe(str(folder))}\n")

    def _end(self) -> None:
        """Print the document, and end with the status of the worst refusal.

        Raises typer.Exit.
        """
        from sassan.app import documents

        if self._json:
            whole: dict[str, object] = {**documents.tool(), "samples": self._documents}
            if self._refused:
                whole["errors"] = [documents.refusal(file, error) for file, error in self._refused]
            out(jsonlib.dumps(whole, indent=2) + "\n")
        if self._refused:
            raise typer.Exit(max(error.status for _, error in self._refused))
