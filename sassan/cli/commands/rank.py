"""`sassan rank`: the configurations of a tuning space in the order of their estimated times, without a GPU."""

from collections.abc import Mapping
from json import dumps
from typing import Annotated, Any

import typer

from sassan import recorded
from sassan.app.reading import read_gpu
from sassan.cli.options import executors
from sassan.cli.options.inputs import AllAssumptions, Csv, Json, ProjectFile, Quiet
from sassan.cli.options.launch import Gpu, Parameters, Shared
from sassan.cli.options.project import completed, project_of
from sassan.cli.output import csv as sheet
from sassan.cli.output.files import extension, save
from sassan.cli.output.progress import track
from sassan.cli.output.terminal import note, out, safe
from sassan.cli.reports import rank as report
from sassan.errors import UsageError
from sassan.evolve.ranking import rank as ranks
from sassan.evolve.ranking.candidates import TunedLaunch, of_cache, of_config
from sassan.evolve.ranking.rank import RankedFields, Ranking
from sassan.evolve.run import tools_of
from sassan.evolve.space import config as configurations
from sassan.evolve.space.config import Config
from sassan.executor import Certificates
from sassan.fields.field import heads, row
from sassan.machine.parameters import setting

_INTERRUPTED = 130
_MANY = 1_000_000
_NOTES = 10

SpaceFile = Annotated[
    str,
    typer.Argument(metavar="CONFIG.toml|CACHE", help="A configuration of sassan evolve, or the cache of Kernel Tuner, KTT or T4 results."),
]
SourceFile = Annotated[str | None, typer.Option("--source", metavar="X.cu", help="The code that CACHE was measured on, if not beside it.")]
BlockExpression = Annotated[
    str | None,
    typer.Option("--block-dim", metavar="X[,Y[,Z]]", help="For CACHE: threads of a block, expressions over its parameters."),
]
GridExpression = Annotated[
    str | None,
    typer.Option(
        "--grid",
        metavar="X[,Y[,Z]]",
        help="For CACHE: blocks of the grid, expressions over its parameters and problem_x, problem_y, problem_z.",
    ),
]
Define = Annotated[
    list[str] | None, typer.Option("-D", "--define", metavar="NAME[=V]", help="For CACHE: a further macro of its code; may be repeated.")
]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="EXPR", help="Only choices for which this holds: 'tile_x * tile_y <= 8'; may be repeated."),
]
Sample = Annotated[int | None, typer.Option("--sample", metavar="N", min=1, max=_MANY, help="Only N of the choices, drawn at random.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**31 - 1, help="Seed of the sample.")]
Top = Annotated[int | None, typer.Option("--top", metavar="K", min=1, max=_MANY, help="Print the best K.", show_default="20; JSON: all")]
Output = Annotated[str | None, typer.Option("-o", "--output", metavar="X.csv|X.json", help="Write all choices, in their order.")]


def rank(
    space: SpaceFile,
    *,
    gpu: Gpu = None,
    source: SourceFile = None,
    block_dim: BlockExpression = None,
    grid: GridExpression = None,
    param: Parameters = None,
    shared: Shared = None,
    define: Define = None,
    where: Where = None,
    sample: Sample = None,
    seed: Seed = 0,
    top: Top = None,
    output: Output = None,
    executor: executors.ExecutorOption = executors.ExecutorKind.PROCESSES,
    scheduler: executors.Scheduler = None,
    tls_ca_file: executors.TlsAuthority = None,
    tls_cert: executors.TlsCertificate = None,
    tls_key: executors.TlsKey = None,
    jobs: executors.Jobs = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compile and estimate everything again; do not use the cache.")] = False,
    assumptions: AllAssumptions = False,
    csv: Csv = False,
    json: Json = False,
    quiet: Quiet = False,
    project: ProjectFile = None,
) -> None:
    """Order a tuning space by estimated time.

    No GPU is needed: each configuration is compiled with NVRTC and estimated as by sassan estimate, in parallel; what was compiled or
    estimated before is taken from a cache, so an interrupted run continues where it was. Where the file has measured times, the report
    says how well the order agrees with them: Kendall's tau, and the regret, the best measured time of the first 1 and 10 over the best of
    all.

    Of a cache, parameters are macros of the code; block and grid follow from block_size_x and its like, and from what the code multiplies
    blockIdx by, unless --block-dim and --grid say them. A project gives the GPU that the file does not
    name and, of a cache, param and shared.

    \b
    Examples:
      sassan rank convolution.json.gz --gpu "A100-PCIE-40GB" --top 10
      sassan rank cache.json --source k.cu --gpu T4 -D N=4096 -o ranked.csv
      sassan rank matmul.toml --gpu "RTX 3080" --where 'TILE >= 16'
      sassan rank matmul.toml --gpu T4 --json | jq '.configurations[0]'
    """
    sheet.exclude(csv=csv, json=json)
    if output is not None:
        extension(output, ("csv", "json"))
    known = configurations.read(space) if space.endswith(".toml") else _tuning_space(space, quiet=quiet)
    options: dict[str, Any] = {"gpu": gpu, "param": param, "shared": shared}
    options.update(completed(project_of(project, (space,)), _of_project(known, options), quiet=quiet))
    product = read_gpu(options["gpu"]) if options["gpu"] is not None else None
    if isinstance(known, Config):
        given = {"--source": source, "--block-dim": block_dim, "--grid": grid, "--param": param, "--shared": shared, "--define": define}
        _refuse(space, [name for name, value in given.items() if value is not None])
        candidates = of_config(known, product)
    else:
        launch = TunedLaunch(
            source,
            product,
            _axes(block_dim),
            _axes(grid),
            tuple(map(setting, options["param"] or ())),
            options["shared"] or 0,
            tuple(f"-D{text}" for text in define or ()),
        )
        candidates = of_cache(known, launch)
    candidates = candidates.where(where or ())
    if not candidates.entries:
        raise UsageError("nothing", f"{space}: no choice is left to rank", hint="relax --where or the restrictions of the file")
    if sample is not None:
        candidates = candidates.sample(sample, seed)
    tools = tools_of(candidates.config)
    with executors.executor(executor, scheduler, jobs, Certificates(tls_ca_file, tls_cert, tls_key)) as workers:
        steps = ranks.outcomes(candidates, tools, workers, cached=not no_cache)
        try:
            rows = tuple(track(steps, "ranking", quiet=quiet, total=len(candidates.entries)))
        except KeyboardInterrupt:
            note("interrupted: what was estimated is in the cache; the same command continues there\n")
            raise typer.Exit(_INTERRUPTED) from None
    ranking = ranks.ranking(candidates, rows)
    if output is not None:
        sheet_wanted = extension(output, ("csv", "json")) == "csv"
        text = _table(ranking, None) if sheet_wanted else dumps(ranks.document(ranking, None), indent=2) + "\n"
        save(output, text.encode(), quiet=quiet)
    if json:
        out(dumps(ranks.document(ranking, top), indent=2) + "\n")
    elif csv:
        out(_table(ranking, top))
    elif output is None or not quiet:
        report.show(ranking, top, every=assumptions)


def _of_project(known: Config | recorded.TuningSpace, options: Mapping[str, object]) -> Mapping[str, object]:
    """Return the options that a project may give: not the GPU that the file itself names, and of a configuration nothing else."""
    if isinstance(known, Config):
        return {"gpu": options["gpu"]} if known.shape.gpu is None else {}
    named = known.device is not None and known.device.name
    return {name: value for name, value in options.items() if name != "gpu" or not named}


def _refuse(space: str, given: list[str]) -> None:
    if given:
        raise UsageError("usage", f"{given[0]} has no effect on a configuration", hint=f"write it into {space}")


def _tuning_space(space: str, *, quiet: bool) -> recorded.TuningSpace:
    known = recorded.read(space)
    if not isinstance(known, recorded.TuningSpace):
        raise UsageError("no-tuning-space", f"'{space}' records launches, no tuning space", hint="sassan validate compares launches")
    for text in () if quiet else known.notes[:_NOTES]:
        note(f"note: {safe(space)}: {safe(text)}\n")
    return known


def _axes(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text is not None else ()


def _table(ranking: Ranking, top: int | None) -> str:
    """Return the choices as CSV: parameters, then times in microseconds, what binds, registers."""
    columns = (*ranking.rows[0].candidate.values, *heads(RankedFields))
    return sheet.text(columns, ({**each.candidate.values, **row(RankedFields, each)} for each in ranking.rows[:top]))
