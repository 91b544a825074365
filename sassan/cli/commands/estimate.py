"""`sassan estimate`: how long a launch takes, and why."""

from collections.abc import Sequence
from dataclasses import replace

import typer

from sassan.app import program_times
from sassan.app.estimate_fields import Estimated, EstimatedFields, LaunchFields, TimedLaunch, WhatIfFields, rows
from sassan.app.estimating import EstimateResult, estimated, estimated_launches
from sassan.app.invariants import broken
from sassan.app.what_if import alternatives, change
from sassan.cli.options.inputs import Csv, Json
from sassan.cli.options.launch import PolicyOption, WhatIf
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document, failure
from sassan.cli.output.finish import finish, named
from sassan.cli.output.terminal import label, note, safe
from sassan.cli.reports import estimate as report
from sassan.cli.reports import program as program_report
from sassan.errors import InputError, UsageError
from sassan.estimate.policy import Policy
from sassan.fields import field as fields


@analysis
def estimate(
    command: AnalysisCommand, *, policy: PolicyOption = Policy.OLDEST, what_if: WhatIf = None, csv: Csv = False, json: Json = False
) -> None:
    """Estimate how long a launch takes, and say why.

    An estimate is what to expect; a bound (sassan analyze) is what is never exceeded. One SM is simulated with its resident blocks, their
    control codes, units and barriers, and its share of L2 and DRAM; the rest of the grid follows in waves. The GPU, the block and the grid
    are needed; arguments that bound loops are, too (--param), or a recording of the launches (--launches).

    'bound by' names what to improve: issue (fewer instructions), a unit such as fma, shared (bank conflicts) or l1 (uncoalesced accesses),
    which share the memory pipeline of an SM, l2, dram (fewer bytes), latency (more warps, or more independent work in each), barrier,
    tail (blocks that are too few or too long), launch (too little work for a kernel). Rows are the work of one warp on the expected, the
    shortest and the longest path, in cycles of each unit. Stalls have the names of Nsight Compute.

    --what-if shows the time with other registers per thread, another block, or on another GPU beside that of the launch. With --launches,
    the kernels of a whole program are listed by time, and the three that matter most are explained.

    \b
    Examples:
      sassan estimate k.cubin --gpu T4 --block-dim 256 --grid 4096 --param n=100
      sassan estimate k.cubin --gpu T4 --block-dim 32,8 --grid 64,64 --json
      sassan estimate k.cubin --gpu T4 --block-dim 256 --what-if block=128
      sassan estimate ./a.out --gpu "H100 PCIe" --launches launches.toml
    """
    sheet.exclude(csv=csv, json=json)
    request, settings = command.request, command.request.settings
    changes = tuple(map(change, what_if or ()))
    if settings.gpu is None:
        raise UsageError("usage", "an estimate needs a GPU", hint="pass --gpu NAME; sassan gpus lists them")
    if request.recording is not None:
        if changes and "launches" not in command.of_project:
            raise UsageError("usage", "--what-if changes one launch, and --launches gives several", hint="omit one of them")
        if changes:
            changing = ", ".join(f"--what-if {each}" for each in changes)
            command.observer.noted(
                f"{changing} is not used: it changes one launch, which --block-dim and --grid give; the project has several"
            )
        _program(command, policy=policy, csv=csv, json=json)
        return
    if settings.launch.block is None or settings.launch.grid is None:
        raise UsageError("usage", "an estimate needs the shape of a launch", hint="pass --block-dim and --grid, or --launches")
    request = replace(request, settings=replace(settings, contention=False, check=False))
    results, inputs = request.results(command.observer, label="estimating")
    estimates = [estimated(result, policy=policy) for result in results if result.function.kernel]
    others = [alternatives(command.options, each.analysis, changes, policy=policy) for each in estimates]
    _check(estimates)
    if json:
        document.show([fields.document(EstimatedFields, each) for each in map(Estimated, estimates, others)], inputs.refused)
    elif csv:
        columns = fields.heads(EstimatedFields, WhatIfFields)
        sheet.show(columns, (row for each in map(Estimated, estimates, others) for row in rows(each)))
    else:
        report.show(estimates, others)
    if request.patterns and not inputs.status:
        _refuse_missing(estimates)
    finish(inputs)


def _program(command: AnalysisCommand, *, policy: Policy, csv: bool, json: bool) -> None:
    """Print the estimate of every recorded launch, and of the program."""
    request, observer = command.request, command.observer
    inputs = request.inputs(observer)
    launches = tuple(request.launch_results(inputs, observer))
    estimates = estimated_launches(launches, policy=policy)
    _check([each for each in estimates if each is not None])
    if json:
        shown = [fields.document(LaunchFields, each) for each in map(TimedLaunch, launches, estimates)]
        document.show([], inputs.refused, launches=shown, **program_times.document(launches, estimates))
    elif csv:
        sheet.of_fields(LaunchFields, map(TimedLaunch, launches, estimates))
    else:
        program_report.show(launches, estimates, cut=request.recording.cut if request.recording is not None else "")
    if request.patterns and not inputs.status:
        _refuse_missing([each for each in estimates if each is not None])
    finish(inputs)


def _check(estimates: Sequence[EstimateResult]) -> None:
    """Print a warning for each estimate that its own bound, or its own work, contradicts."""
    texts = dict.fromkeys((each.analysis.function.name, text) for each in estimates for text in broken(each))
    for name, text in texts:
        note(f"warning[estimate]: {label(name)}: {safe(text)}; this is a defect of sassan: report it\n")


def _refuse_missing(estimates: Sequence[EstimateResult]) -> None:
    """End the command where a chosen function has no estimate."""
    unknown = [each for each in estimates if each.estimate is None]
    if unknown:
        codes = sorted({gap.code for each in unknown for gap in each.gaps})
        error = InputError("gaps", f"{named([each.analysis.function for each in unknown])}: no estimate ({', '.join(codes)})")
        failure.show(error)
        raise typer.Exit(error.status)
