"""Gates held against the results of a request."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from sassan import __version__
from sassan.app.builds import gates, mix, resources, saved_results, times, waste
from sassan.app.builds.baseline import Baseline
from sassan.app.builds.build import Build
from sassan.app.builds.checked import CheckedFunction, Remark
from sassan.app.builds.gates import Failure, Gate, GateRule, PatternGates
from sassan.app.builds.growth import NONE, Allowed, growth
from sassan.app.builds.saved_results import SavedResult
from sassan.app.builds.why import since
from sassan.app.document_fields import ProfiledFields
from sassan.app.inputs import Inputs, RefusedInput, matches
from sassan.app.memory import memory_of
from sassan.app.project import NAME as PROJECT
from sassan.app.project import Project
from sassan.app.reading import read_text
from sassan.app.request import AnalysisRequest
from sassan.app.result import AnalysisResult
from sassan.app.views import check_control
from sassan.errors import InputError, UsageError
from sassan.fields.field import Value, document

_OF_A_LAUNCH = frozenset(
    {
        *(
            GateRule.MAX_WCET,
            GateRule.MAX_MAKESPAN,
            GateRule.MAX_US,
            GateRule.MAX_GRID_CYCLES,
            GateRule.MAX_TOTAL_US,
            GateRule.MAX_WASTE,
            GateRule.MIN_OCCUPANCY,
        ),
        *(GateRule.REQUIRE_BOUNDED, GateRule.NO_GAPS),
    }
)
"""What is asked of launches alone where a recording says which there are."""

_OF_A_KERNEL = frozenset({GateRule.MAX_US, GateRule.MAX_GRID_CYCLES, GateRule.MAX_TOTAL_US})
"""What no other function has."""


def gates_of(limits: Mapping[GateRule, float | None], flags: Mapping[GateRule, bool]) -> tuple[Gate, ...]:
    """Return the gates of the options, for every function."""
    numbered = [Gate(rule, limit, f"--{rule}") for rule, limit in limits.items() if limit is not None]
    return (*numbered, *(Gate(rule, None, f"--{rule}") for rule, wanted in flags.items() if wanted))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What a check holds functions to, as given.

    `baseline` and `gates_file` are paths, `growth` (of bounds) and `code_growth` (of figures of the code) are texts;
    `demands` are of a project file.

    `partial`: the inputs may be a part of a project. `update`: the baseline is to be written, and holds nothing.
    """

    gates: tuple[Gate, ...] = ()
    control: bool = False
    gates_file: str | None = None
    baseline: str | None = None
    growth: str | None = None
    code_growth: str | None = None
    update: bool = False
    partial: bool = False
    demands: tuple[PatternGates, ...] = ()

    def beside(self, project: Project, *, whole: bool) -> "CheckRequest":
        """Return these with what a project file says; `whole`: the inputs are all of it."""
        baseline = self.baseline or project.baseline
        held = baseline is not None and not self.update
        return replace(
            self,
            control=self.control or project.control,
            baseline=baseline,
            growth=self.growth or (project.growth if held else None),
            code_growth=self.code_growth or (project.code_growth if held else None),
            partial=self.partial or not whole,
            demands=(*project.demands, *self.demands),
        )

    def check(self, request: AnalysisRequest) -> None:
        """Refuse what holds nothing, or contradicts itself or the request; raises UsageError."""
        if self.update and self.baseline in (None, "-"):
            raise UsageError("usage", "no file of a baseline is named", hint=f"pass --baseline OLD.json, or name it in a {PROJECT}")
        for option, text in (("--max-growth", self.growth), ("--max-code-growth", self.code_growth)):
            if text is not None and self.update:
                raise UsageError("usage", "--update-baseline holds nothing to the baseline", hint=f"omit {option}")
            if text is not None and self.baseline is None:
                raise UsageError("usage", f"{option} has no effect without --baseline", hint="pass --baseline OLD.json, too")
        if not (self.gates or self.control or self.gates_file is not None or self.baseline is not None or self.demands):
            hint = f"pass --max-wcet N, --no-gaps, --baseline OLD.json, --gates gates.toml, …, or write them into a {PROJECT}"
            raise UsageError("no-gate", "no gate was given, so nothing can fail", hint=hint)
        if request.settings.experiment:
            raise UsageError("usage", "--paper-experiment and --ablate give no bounds, which gates need", hint="omit them")


class Checker:
    """The gates of one command, read and held against each other before any work."""

    def __init__(self, request: AnalysisRequest, held: CheckRequest) -> None:
        """Read gates and baseline.

        Raises UsageError for options that contradict each other, InputError for a file that is refused.
        """
        held.check(request)
        self._control = held.control
        everywhere = (PatternGates("*", held.gates),) if held.gates else ()
        self._demands: tuple[PatternGates, ...] = (*everywhere, *held.demands, *_read(held.gates_file))
        rules = {gate.rule for demand in self._demands for gate in demand.gates}
        _refuse_what_is_never_known(rules, request)
        allowed = Allowed(
            growth(held.growth) if held.growth is not None else NONE, growth(held.code_growth) if held.code_growth is not None else None
        )
        self._baseline = Baseline(request, held.baseline, allowed) if held.baseline is not None and not held.update else None
        self.unmatched: tuple[str, ...] = ()
        self.refused: tuple[RefusedInput, ...] = ()
        """The gates that are for no function."""
        self.assumptions: dict[str, None] = {}
        """What the checks of control codes and of memory take for granted, each once."""
        self._build = Build((), Inputs(()))
        self._totals: Mapping[int, tuple[Failure, ...]] = {}
        self._facts, self._partial = request.settings.facts, held.partial

    @property
    def against_baseline(self) -> bool:
        """Whether the build is held to an older one."""
        return self._baseline is not None

    def checked(self, build: Build) -> list[CheckedFunction]:
        """Return every function with the gates that it fails; `refused` has the gates that are for no function."""
        results = build.results
        if not build.inputs.refused:
            self._all_used([result.function.name for result in results])
        rows = [document(ProfiledFields, result) for result in results]
        numbers = [replace(saved_results.of(row), version=__version__) for row in rows]
        if self._baseline is not None:
            self._baseline.pair(numbers, partial=self._partial)
        self._build, self._totals = build, times.totals(build, self._demands)
        held = enumerate(zip(results, rows, numbers, strict=True))
        return [self._checked(place, result, row, now) for place, (result, row, now) in held]

    def _all_used(self, names: list[str]) -> None:

        unmatched: list[str] = []
        for demand in self._demands:
            if not demand.file or any(matches(name, demand.pattern) for name in names):
                continue
            if self._partial:
                unmatched.append(f"{demand.file}: no function matches '{demand.pattern}'")
            else:
                message = f"{demand.file}: no function matches '{demand.pattern}', so its gates hold nothing"
                hint = f"there are {len(names)}: {', '.join(names[:3])}; --allow-unmatched where they are a part of a project"
                self.refused += (RefusedInput(demand.file, InputError("unknown-function", message, hint=hint)),)
        facts = self._facts if self._partial else None
        if facts is not None:
            unmatched.extend(f"{facts.name}: no function that is checked is '{name}'" for name, _ in facts.functions if name not in names)
        self.unmatched = tuple(unmatched)

    def _checked(self, place: int, result: AnalysisResult, row: Mapping[str, Value], numbers: SavedResult) -> CheckedFunction:
        idle = id(result) in self._build.idle
        wanted = [gate for demand in self._demands if matches(numbers.name, demand.pattern) for gate in demand.gates]
        absent = _OF_A_LAUNCH if idle else _OF_A_KERNEL if not result.function.kernel else frozenset[GateRule]()
        wanted = [gate for gate in wanted if gate.rule not in absent]
        base = self._baseline
        old = base.old(place) if base is not None else None
        limits = (*gates.failures(numbers, wanted), *times.failures(result, wanted), *self._totals.get(place, ()))
        failed = [_explained(each, old, numbers) for each in limits]
        rules = [gate.rule for gate in wanted]
        if waste_limits := [gate for gate in wanted if gate.rule is GateRule.MAX_WASTE]:
            memory = memory_of(result)
            self.assumptions |= dict.fromkeys(memory.assumptions)
            failed.extend(waste.failures(memory, waste_limits))
        failed.extend(resources.failures(result, wanted))
        failed.extend(mix.failures(result, wanted))
        if base is not None:
            failed.extend(base.failures(place, numbers, bounds=not idle))
            rules.extend([gates.GateRule.GROWTH] if base.holds(place, numbers) else [])
        if self._control:
            function = result.function
            report = check_control(function)
            self.assumptions |= dict.fromkeys(report.assumptions)
            failed.extend(gates.control(function, report))
            rules.append(gates.GateRule.CONTROL)
        held_by = tuple(dict.fromkeys(rule.value for rule in rules))
        if base is None:
            return CheckedFunction(result, row, tuple(failed), held_by, now=numbers)
        unheld = () if idle else base.unheld(place, numbers)
        return CheckedFunction(result, row, tuple(failed), held_by, unheld, base.conditions(place, numbers), now=numbers, old=old)

    def remarks(self, checked: list[CheckedFunction]) -> tuple[Remark, ...]:
        """Return what the verdict leaves open: functions without any gate, and what the baseline does not hold."""
        free = tuple(entry.result.function.name for entry in checked if not entry.held_by)
        # Where the baseline is all there is, it says of the same functions that it does not hold them.
        remarks = [Remark("no-gate", "held by no gate", free)] if self._demands else []
        remarks.extend(self._baseline.remarks(checked) if self._baseline is not None else ())
        return tuple(remark for remark in (*remarks, *self._build.remarks) if remark.names)

    @property
    def missing(self) -> list[str] | None:
        """Return the names that only the baseline has, None without one."""
        return [result.name for result in self._baseline.missing] if self._baseline is not None else None


def _refuse_what_is_never_known(rules: AbstractSet[GateRule], request: AnalysisRequest) -> None:
    """Raise UsageError for a gate on what no function of the request has."""
    settings, recorded = request.settings, request.recording is not None
    shaped, launched = settings.launch.block is not None or recorded, settings.launch.grid is not None or recorded
    needs = (
        (GateRule.MAX_MAKESPAN, settings.warps is not None or shaped, "the number of warps on an SM", "-W N or --block-dim"),
        (GateRule.MIN_OCCUPANCY, shaped, "the shape of a block", "--block-dim or --launches"),
        (GateRule.MAX_GRID_CYCLES, launched, "a launch", "--block-dim and --grid, or --launches"),
        (GateRule.MAX_US, launched and settings.gpu is not None, "a GPU and a launch", "--gpu, and --block-dim and --grid or --launches"),
        (GateRule.MAX_TOTAL_US, recorded and settings.gpu is not None, "a GPU and a recording", "--gpu and --launches"),
    )
    for rule, known, needed, hint in needs:
        if rule in rules and not known:
            raise UsageError("usage", f"{rule} needs {needed}", hint=f"pass {hint}")


def _explained(failure: Failure, old: SavedResult | None, new: SavedResult) -> Failure:
    """Return the failure of a limit with what differs from the baseline, where that has the function."""
    if old is None or failure.rule not in _OF_A_LAUNCH:
        return failure
    text, places = since(old, new)
    message = f"{failure.message}; since the baseline: {text}" if text else failure.message
    return replace(failure, message=message, related=(*failure.related, *places))


def _read(path: str | None) -> tuple[PatternGates, ...]:
    """Return the demands of a file of gates."""
    if path is None:
        return ()
    return gates.read(path, read_text(path, "bad-gates", "a TOML file with a table per pattern of function names"))
