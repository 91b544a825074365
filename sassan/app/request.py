"""From a request (inputs, settings, recorded launches) to the results of its functions."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sassan.app.analysis import analyze
from sassan.app.inputs import (
    Inputs,
    RefusedInput,
    RequestObserver,
    SelectedFunction,
    check_patterns,
    check_settings,
    each_function,
    inherited,
    kernels,
    read_functions,
    repeated,
    wanted,
)
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.errors import InputError
from sassan.ir import Function
from sassan.launches import Launches
from sassan.machine.launch import unknown
from sassan.warpcfg.work import TOO_LARGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sassan.app.launches import LaunchResult

_UNOBSERVED = RequestObserver()


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """What is to be analyzed, and how.

    `patterns` choose functions by name (none: all), `arch` overrides the architecture that the files name, `cached` False disassembles
    again. With a `recording`, every launch in it is analyzed with its block, grid and arguments; `launches` is its file.
    """

    files: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)
    patterns: tuple[str, ...] = ()
    arch: str | None = None
    cached: bool = True
    recording: Launches | None = None
    launches: str = ""
    partial: bool = False
    """Whether flow facts may be for other inputs, too."""
    whole: bool = False
    """Whether functions that the recording does not launch are analyzed, too, without a launch, and launches of others are passed over."""
    run_before: bool = False
    """Whether launches of the recording are run, so that memory is known which earlier ones wrote."""
    spare_parameters: bool = False
    """Whether parameters may be for other inputs, too: what no kernel has is a note."""
    target: str | None = None
    """The architecture that CUDA source is compiled for; None: that of the GPU, or of the machine."""

    @property
    def compiled_for(self) -> str | None:
        """The architecture that CUDA source is compiled for, None where nothing says it."""
        machine = self.settings.machine
        return self.target or self.arch or (machine.sm.arch if machine is not None else None)

    def inputs(self, observer: RequestObserver = _UNOBSERVED, *, partial: bool = False, changed: bool = False) -> Inputs:
        """Read the files and choose the functions that are meant; a file that is refused does not hide the others.

        Flow facts are checked against all functions, the launch against the chosen ones; `partial`: the facts may be for other inputs, too,
        `changed`: for other code, as may be the parameters of the launch.
        Raises UsageError `standard-input` when `-` is named twice; where every file was read, `unknown-function` when a pattern matches
        nothing, `unknown-parameter` when no chosen kernel has one that the launch sets and `spare_parameters` is not set, InputError for
        facts of a function that is missing or has changed.
        """
        inputs = read_functions(self.files, self.arch, observer, cached=self.cached, target=self.compiled_for)
        selected = tuple(each for each in inputs.selected if wanted(each.function.name, self.patterns))
        chosen = [each.function for each in selected]
        if not inputs.refused:
            check_patterns(self.patterns, inputs.names)
            settings = self.settings
            if self.spare_parameters and not changed:
                settings = _with_known_parameters(settings, kernels(chosen), observer)
            check_settings(settings, [each.function for each in inputs.selected], chosen, partial=partial or self.partial, changed=changed)
        for text in inherited(chosen):
            observer.assumed(text)
        for text in repeated(selected):
            observer.noted(text)
        return replace(inputs, selected=selected)

    def results(
        self, observer: RequestObserver = _UNOBSERVED, *, partial: bool = False, label: str = "analyzing"
    ) -> tuple[tuple[AnalysisResult, ...], Inputs]:
        """The result of every function, or of every different recorded launch, and the inputs with all that was refused.

        Raises what `inputs` raises, UsageError for an impossible launch or an unknown solver, SelfCheckError.
        """
        return self.results_of(self.inputs(observer, partial=partial), observer, label=label)

    def results_of(
        self, inputs: Inputs, observer: RequestObserver = _UNOBSERVED, *, label: str = "analyzing"
    ) -> tuple[tuple[AnalysisResult, ...], Inputs]:
        """The same for inputs that are read already."""
        if self.recording is not None:
            return self._of_launches(inputs, observer, label)
        stopped: dict[str, set[str]] = {}
        """The functions of each file that are too large."""

        def analyzed(selected: SelectedFunction) -> AnalysisResult:
            names = stopped.setdefault(selected.file, set())
            result = analyze(selected.function, self.settings, selected.file, names)
            if any(gap.code == TOO_LARGE for gap in result.cfg.gaps):
                names.add(selected.function.name)
            return result

        return each_function(inputs, analyzed, label, observer)

    def launch_results(self, inputs: Inputs, observer: RequestObserver = _UNOBSERVED) -> "Iterator[LaunchResult]":
        """Yield the result of every recorded launch of the functions that are meant, in order; there is a recording."""
        assert self.recording is not None
        from sassan.app.earlier_launches import EarlierLaunches  # noqa: PLC0415 - start-up: only for a recording
        from sassan.app.launches import analyze_launches  # noqa: PLC0415 - the same
        from sassan.app.recorded_memory import with_contents  # noqa: PLC0415 - the same

        functions = [(selected.file, selected.function) for selected in inputs.selected]
        recording = with_contents(functions, self.recording, EarlierLaunches(observer) if self.run_before else None)
        chosen = tuple(launch for launch in recording.launches if wanted(launch.kernel, self.patterns))
        results = analyze_launches(functions, replace(recording, launches=chosen), self.settings)
        yield from observer.steps(results, "analyzing", len(chosen))

    def sequence_of(
        self, inputs: Inputs, observer: RequestObserver = _UNOBSERVED, passed: frozenset[str] = frozenset()
    ) -> "tuple[tuple[LaunchResult, ...], Inputs]":
        """The result of every recorded launch, equal ones the same.

        A kernel that no input holds is refused like an unreadable file, unless it is among those that are `passed` over.
        """
        launches = tuple(self.launch_results(inputs, observer))
        refused = {(refused.file, refused.error.message): refused for refused in inputs.refused}
        for gap in (gap for launch in launches if launch.launch.kernel not in passed for gap in launch.missing):
            missing = RefusedInput(self.launches, InputError(gap.code, gap.message))
            if (missing.file, gap.message) not in refused:
                refused[missing.file, gap.message] = missing
                observer.refused(missing)
        return launches, replace(inputs, refused=tuple(refused.values()))

    def _of_launches(self, inputs: Inputs, observer: RequestObserver, label: str) -> tuple[tuple[AnalysisResult, ...], Inputs]:
        """One result for each different launch, and with `whole` one for each function that is not launched."""
        from sassan.app.launches import different  # noqa: PLC0415 - start-up: only for a recording

        others, left = self._unmatched(inputs) if self.whole else (frozenset[str](), ())
        launches, inputs = self.sequence_of(inputs, observer, others)
        if self.whole and not self.patterns:
            for subject, names in (("no launch of", [each.function.name for each in left]), ("passed over launches of", sorted(others))):
                if names:
                    observer.noted(f"{self.launches}: {subject} {', '.join(names)}")
        if not left:
            return different(launches), inputs
        alone, rest = replace(self, recording=None).results_of(replace(inputs, selected=left), observer, label=label)
        places = {(each.file, id(each.function)): place for place, each in enumerate(inputs.selected)}
        every = sorted((*different(launches), *alone), key=lambda result: places[result.file, id(result.function)])
        return tuple(every), replace(inputs, refused=rest.refused)

    def _unmatched(self, inputs: Inputs) -> tuple[frozenset[str], tuple[SelectedFunction, ...]]:
        """The names of launched kernels that the inputs do not hold, and the functions that are not launched."""
        launched = {launch.kernel for launch in self.recording.launches} if self.recording is not None else set[str]()
        left = tuple(each for each in inputs.selected if not each.function.kernel or each.function.name not in launched)
        return frozenset(launched - {each.function.name for each in inputs.selected if each.function.kernel}), left


def _with_known_parameters(settings: Settings, functions: tuple[Function, ...], observer: RequestObserver) -> Settings:
    """Return the settings without the parameters that none of the kernels has, of which a note is made."""
    absent = unknown(settings.launch, functions)
    if absent:
        observer.noted(f"not used: {', '.join(f'--param {setting}' for setting in absent)}: no kernel has it")
    parameters = tuple(setting for setting in settings.launch.parameters if setting not in absent)
    return replace(settings, launch=replace(settings.launch, parameters=parameters))
