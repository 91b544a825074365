"""`sassan analyze`: the main job."""

from sassan import documents
from sassan.cli import document, options, report, settings
from sassan.cli.inputs import analyses, finish, read
from sassan.errors import UsageError


def analyze(
    files: options.Files,
    *,
    function: options.Functions = None,
    warps: options.Warps = None,
    bounds: options.Bounds = None,
    loop_bound: options.LoopBound = None,
    block_dim: options.BlockDim = None,
    grid: options.Grid = None,
    param: options.Parameters = None,
    registers: options.Registers = None,
    shared: options.Shared = None,
    sms: options.Sms = None,
    partition: options.PartitionBound = False,
    model: options.ModelOption = options.Model.UNIT,
    machine: options.MachineFile = None,
    latency: options.Latencies = None,
    measurements: options.Measurements = None,
    letters: options.LettersOption = options.Letters.TIMING,
    order: options.OrderOption = options.Order.ARCH,
    call_depth: options.CallDepth = None,
    ablate: options.Ablate = None,
    paper_experiment: options.PaperExperiment = False,
    sm: options.Sm = None,
    no_cache: options.NoCache = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Bound every function: graph, string, WCET, makespan.

    A function that cannot be bounded lists its gaps: what is missing, and at which address. A bound holds under the assumptions that are
    printed with it. With --block-dim, as many warps as are resident on an SM are bounded together; with --grid, the whole grid.

    \b
    Examples:
      sassan analyze kernels.sass
      sassan analyze kernels.sass -f '*saxpy*' --loop-bound 10 -W 16
      sassan analyze k.cubin --block-dim 256 --grid 120 --sms 20 --model table
      sassan analyze a.sass b.sass --bounds facts.toml --json
      cuobjdump -sass a.out | sassan analyze -
    """
    if partition and warps is None and block_dim is None:
        raise UsageError("usage", "--partition says how warps share an SM", hint="give -W or --block-dim, too")
    chosen = settings.make(
        bounds=bounds,
        loop_bound=loop_bound,
        launch=settings.launch(block_dim, grid, param),
        letters=letters,
        model=model,
        machine=machine,
        latency=latency,
        measurements=measurements,
        order=order,
        call_depth=call_depth,
        ablate=ablate,
        paper_experiment=paper_experiment,
        resources=settings.resources(block_dim, grid, registers=registers, shared=shared, sms=sms),
        partition=partition,
    )
    inputs = read(files, arch=sm, patterns=function, cached=not no_cache, facts=chosen.facts, launch=chosen.launch)
    from sassan import pipeline

    results, inputs = analyses(inputs, lambda one: pipeline.analyze(one, chosen, warps), "analyzing", quiet=quiet)
    if json:
        document.show([documents.analysis(one.file, one.analysis) for one in results], inputs.refused)
    else:
        report.show(results)
    finish(inputs, [one.analysis for one in results] if function else [])
