"""A build as gates see it: every function, and every different launch of a recording, whatever changed since these were written.

A recording and flow facts belong to a build. Of a later one, what still fits is used, and the rest is named: nothing ends a check.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sassan.app.builds.checked import Remark
from sassan.app.inputs import Inputs, RefusedInput, RequestObserver, kernels
from sassan.app.launches import LaunchResult, different, kernel_of
from sassan.app.request import AnalysisRequest
from sassan.app.result import AnalysisResult
from sassan.errors import Gap, InputError
from sassan.ipet.facts.model import FlowFacts
from sassan.ir import Function
from sassan.launches import ProgramLaunch
from sassan.machine.launch import check, unfit


@dataclass(frozen=True, slots=True)
class Build:
    """What was found of a build: a result for each function or different launch, and the `sequence` of recorded launches.

    `idle` are the functions that no launch of the recording runs, by the identity of their results: nothing is known of their launch.
    `cut` says why the recording ends early, '' where it does not. `remarks` say what of a recording or of flow facts is of other code.
    """

    results: tuple[AnalysisResult, ...]
    inputs: Inputs
    sequence: tuple[LaunchResult, ...] = ()
    idle: frozenset[int] = frozenset()
    remarks: tuple[Remark, ...] = ()
    cut: str = ""


def build_of(
    request: AnalysisRequest, observer: RequestObserver, *, partial: bool = False, changed: bool = False, inputs: Inputs | None = None
) -> Build:
    """Return the build of a request; functions that a recording does not launch are analyzed without a launch.

    `inputs`: what was read already in place of its files. `changed`: its options may be those of an older build; parameters that no kernel
    has any more are a remark.
    Raises what `AnalysisRequest.results` raises, save for facts and launches of other code.
    """
    # Facts of a function that is gone end no check; where functions are chosen, all of them are not known here.
    inputs = inputs or request.inputs(observer, partial=partial or not request.patterns, changed=True)
    missing = _unknown(request, inputs) if not (partial or request.partial or request.patterns or inputs.refused) else ()
    for refused in missing:
        observer.refused(refused)
    inputs = replace(inputs, refused=(*inputs.refused, *missing))
    functions = [(selected.file, selected.function) for selected in inputs.selected]
    request, remarks = _fitted(request, functions, changed=changed)
    if not inputs.refused:
        check(request.settings.launch, kernels(function for _, function in functions))
    if request.recording is None:
        results, inputs = request.results_of(inputs, observer)
        return Build(results, inputs, remarks=remarks)
    launched = {launch.kernel for launch in request.recording.launches}
    idle = tuple(selected for selected in inputs.selected if selected.function.name not in launched)
    sequence, inputs = request.sequence_of(inputs, observer)
    others, inputs = replace(request, recording=None).results_of(replace(inputs, selected=idle), observer)
    cut = request.recording.cut
    return Build((*different(sequence), *others), inputs, sequence, frozenset(map(id, others)), remarks, cut)


def _unknown(request: AnalysisRequest, inputs: Inputs) -> tuple[RefusedInput, ...]:
    """Return an error for each function that flow facts name and the inputs do not hold."""
    facts = request.settings.facts
    if facts is None:
        return ()
    gone = [name for name, _ in facts.functions if name not in inputs.names]
    return tuple(
        RefusedInput(facts.name, InputError("facts-unknown-function", f"{facts.name}: the input has no function {name!r}")) for name in gone
    )


def _with_fitting_parameters(request: AnalysisRequest, functions: Sequence[tuple[str, Function]]) -> tuple[AnalysisRequest, list[Remark]]:
    """Return the request with those of its parameters that these functions have, and a remark of the others."""
    settings = request.settings
    gone = unfit(settings.launch, kernels(function for _, function in functions))
    if not gone:
        return request, []
    kept = tuple(setting for setting in settings.launch.parameters if setting not in gone)
    message = "parameters changed: no kernel has these, or their values do not fit, and they are not used"
    remark = Remark("changed-parameters", message, tuple(f"--param {setting}" for setting in gone))
    return replace(request, settings=replace(settings, launch=replace(settings.launch, parameters=kept))), [remark]


def _fitted(
    request: AnalysisRequest, functions: Sequence[tuple[str, Function]], *, changed: bool
) -> tuple[AnalysisRequest, tuple[Remark, ...]]:
    """Return the request with what of its facts and launches fits these functions, and what does not; `changed`: of its parameters, too."""
    request, remarks = _with_fitting_parameters(request, functions) if changed else (request, [])
    facts = request.settings.facts
    if facts is not None:
        stale = _stale(facts, [function for _, function in functions])
        if stale:
            kept = tuple(entry for entry in facts.functions if entry[0] not in stale)
            request = replace(request, settings=replace(request.settings, facts=replace(facts, functions=kept)))
            remarks.append(Remark("other-text", "flow facts are of other code and not used: check them, and write the new hash", stale))
    if request.recording is not None:
        launches, other, unused = [], dict[str, None](), dict[str, None]()
        for launch in request.recording.launches:
            fitting = _launch(launch, functions)
            launches.append(fitting)
            other |= {launch.kernel: None} if fitting.code != launch.code else {}
            unused |= {launch.kernel: None} if fitting.arguments != launch.arguments else {}
        request = replace(request, recording=replace(request.recording, launches=tuple(launches)))
        remarks.append(Remark("other-code", "launches were recorded of other code", tuple(other)))
        remarks.append(Remark("other-parameters", "recorded arguments are of other parameters and not used", tuple(unused)))
    return request, tuple(remark for remark in remarks if remark.names)


def _stale(facts: FlowFacts, functions: Sequence[Function]) -> tuple[str, ...]:
    """Return the functions whose code is not that of their facts."""
    texts: dict[str, set[str]] = {}
    for function in functions:
        texts.setdefault(function.name, {""}).add(function.text_hash)
    return tuple(name for name, known in facts.functions if name in texts and known.text not in texts[name])


def _launch(launch: ProgramLaunch, functions: Sequence[tuple[str, Function]]) -> ProgramLaunch:
    """Return a launch as the code of today can take it: of any code, and with its arguments only where the parameters lie as they did."""
    place = kernel_of(functions, launch)
    if not isinstance(place, Gap) or place.code != "other-code":
        return launch
    free = replace(launch, code=None)
    now = kernel_of(functions, free)
    assert not isinstance(now, Gap)
    facts = functions[now][1].compiler
    given = {(argument.offset, argument.size) for argument in launch.arguments or ()}
    fits = facts is None or given == {(parameter.offset, parameter.size) for parameter in facts.parameters}
    return free if fits else replace(free, arguments=None)
