"""`sassan advise`: what to change in a kernel or its launch, and what each change gains."""

from collections.abc import Sequence
from dataclasses import replace

import typer

from sassan.app.advise.fields import AdviceFields, AdvisedFields, every
from sassan.app.advise.program import advised_program
from sassan.app.advise.trying import AdvisedLaunch, advised, binding
from sassan.app.estimating import estimated, estimated_launches, expected_time
from sassan.cli.options.inputs import Csv, Json
from sassan.cli.options.launch import PolicyOption
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document, failure
from sassan.cli.output.finish import finish, named
from sassan.cli.reports import advise as report
from sassan.errors import InputError, UsageError
from sassan.estimate.policy import Policy
from sassan.fields import field as fields


@analysis
def advise(command: AnalysisCommand, *, policy: PolicyOption = Policy.OLDEST, csv: Csv = False, json: Json = False) -> None:
    """Say what to change in a kernel, and what it gains.

    Each remedy is tried: the estimate of the launch (sassan estimate) is made again as if the remedy were in place, and the difference is
    its gain. The best stands first, with the instructions or source lines that change (-lineinfo), why, on what the gain rests, and the
    change in CUDA C++. What gains less than 2 % is not advised; where nothing helps, what binds the launch is.

    Words before a gain: certain, only the launch changes; likely, the same work is done in another order or form; upper limit, the
    remedy has costs that are not counted. Gains do not add up: apply one, compile, and ask again.

    With --launches, advice is sought for the kernels that take most of the time of the program, and gains are those of all their launches.

    \b
    Examples:
      sassan advise k.cubin --gpu T4 --block-dim 256 --grid 4096 --param n=100
      sassan advise k.cu --gpu "RTX 3080" --block-dim 32,8 --grid 64,64 --json
      sassan advise ./a.out --gpu "H100 PCIe" --launches launches.toml
    """
    sheet.exclude(csv=csv, json=json)
    request, settings, observer = command.request, command.request.settings, command.observer
    if settings.gpu is None:
        raise UsageError("usage", "advice needs a GPU", hint="pass --gpu NAME; sassan gpus lists them")
    if request.recording is not None:
        inputs = request.inputs(observer)
        launches = tuple(request.launch_results(inputs, observer))
        known = advised_program(
            launches,
            estimated_launches(launches, policy=policy),
            policy=policy,
            steps=lambda several, count: observer.steps(several, "trying remedies", count),
        )
    elif settings.launch.block is None or settings.launch.grid is None:
        raise UsageError("usage", "advice needs the shape of a launch", hint="pass --block-dim and --grid, or --launches")
    else:
        request = replace(request, settings=replace(settings, contention=False, check=False))
        results, inputs = request.results(observer, label="estimating")
        kernels = [result for result in results if result.function.kernel]
        tried = observer.steps(kernels, "trying remedies", len(kernels))
        known = tuple(advised(estimated(result, policy=policy), policy=policy) for result in tried)
    if json:
        advice = [fields.document(AdviceFields, each) for each in every(known)]
        functions = [fields.document(AdvisedFields, each) for each in known]
        document.show(functions, inputs.refused, advice=advice, binds=_binds(known))
    elif csv:
        sheet.of_fields(AdviceFields, every(known))
    else:
        report.show(known)
    if request.patterns and not inputs.status:
        _refuse_missing(known)
    finish(inputs)


def _binds(known: Sequence[AdvisedLaunch]) -> str | None:
    """Return what binds the launch that takes most time."""
    longest = max(known, key=lambda each: (expected_time(each.estimate).us or 0.0) * each.times, default=None)
    return binding(longest) if longest is not None else None


def _refuse_missing(known: Sequence[AdvisedLaunch]) -> None:
    """End the command where a chosen function has no estimate."""
    unknown = [each for each in known if each.estimate.estimate is None]
    if unknown:
        codes = sorted({gap.code for each in unknown for gap in each.gaps})
        error = InputError("gaps", f"{named([each.analysis.function for each in unknown])}: no estimate ({', '.join(codes)})")
        failure.show(error)
        raise typer.Exit(error.status)
