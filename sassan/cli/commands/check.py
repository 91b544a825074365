"""`sassan check`: gates for CI."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from sassan import __version__
from sassan.app import documents, gates, saved_results
from sassan.app.gates import Demand, Gate, Growth, Rule, matches
from sassan.app.gates import growth as parsed
from sassan.app.gates import read as read_gates
from sassan.app.reading import read_text
from sassan.app.saved_results import Result as Numbers
from sassan.app.views import check_control
from sassan.cli.check_baseline import Baseline
from sassan.cli.inputs import Inputs, Result
from sassan.cli.options.gates import (
    AllowUnmatched,
    BaselineFile,
    Control,
    Gates,
    MaxDivergent,
    MaxGrowth,
    MaxMakespan,
    MaxRegisters,
    MaxWcet,
    NoGaps,
    RequireBounded,
    Sarif,
)
from sassan.cli.options.inputs import Json
from sassan.cli.options.request import Asked, analysis
from sassan.cli.output import check_report, document
from sassan.cli.output.check_report import Checked, Remark
from sassan.cli.output.terminal import note, safe
from sassan.errors import InputError, UsageError

FAILED = 1
"""The status where a gate failed (cli.md)."""
_OUT = "-"


@analysis
def check(
    asked: Asked,
    *,
    max_wcet: MaxWcet = None,
    max_makespan: MaxMakespan = None,
    max_registers: MaxRegisters = None,
    max_divergent: MaxDivergent = None,
    require_bounded: RequireBounded = False,
    no_gaps: NoGaps = False,
    control: Control = False,
    gates: Gates = None,
    allow_unmatched: AllowUnmatched = False,
    baseline: BaselineFile = None,
    max_growth: MaxGrowth = None,
    sarif: Sarif = None,
    json: Json = False,
) -> None:
    """Hold every function to gates, for CI: status 1 where one fails.

    Each failure is one line with its place. A number that is not known (the function has gaps) fails every limit on it: unknown is not
    below N. A baseline is what 'sassan analyze --json' printed of an older build; the last line names what it, or any gate, does not hold.

    \b
    Examples:
      sassan check k.cubin --require-bounded --max-wcet 5000
      sassan check k.cubin -W 16 --max-makespan 20000 --max-registers 64
      sassan check k.cubin --gates gates.toml --sarif sassan.sarif
      sassan analyze old.cubin --json > old.json
      sassan check new.cubin --baseline old.json --max-growth 5%
      sassan check k.sass --control

    \b
    A file of gates has a table per pattern of function names:
      [function."*saxpy*"]
      max-wcet = 400
      no-gaps = true
    """
    limits = _limits(max_wcet, max_makespan, max_registers, max_divergent, bounded=require_bounded, gaps=no_gaps)
    if json and sarif == _OUT:
        raise UsageError("usage", "--json and --sarif - both print to standard output", hint="give --sarif a file name")
    if not (limits or control or gates is not None or baseline is not None):
        hint = "give --max-wcet N, --require-bounded, --no-gaps, --baseline OLD.json, --gates gates.toml, …"
        raise UsageError("no-gate", "no gate was given, so nothing can fail", hint=hint)
    _writable(sarif, [*asked.files, gates, baseline, asked.settings.facts.name if asked.settings.facts else None])
    if asked.settings.setup.paper or asked.settings.exploration.ablate:
        raise UsageError("usage", "--paper-experiment and --ablate give no bounds to hold to a gate", hint="leave them away")
    checker = _Checker(asked, limits, control=control, gates=gates, partial=allow_unmatched, baseline=baseline, growth=max_growth)
    results, inputs = asked.analyses(partial=allow_unmatched)
    checked = checker.checked(results, inputs)
    remarks = checker.remarks(checked)
    if sarif is not None:
        check_report.write_sarif(checked, inputs, remarks, sarif, _status(checked, inputs), quiet=asked.quiet)
    if json:
        document.show([check_report.row(one) for one in checked], inputs.refused, missing=checker.missing)
    elif sarif != _OUT:
        check_report.show(checked, len(inputs.refused), remarks)
    if _status(checked, inputs):
        raise typer.Exit(_status(checked, inputs))


def _status(checked: list[Checked], inputs: Inputs) -> int:
    return inputs.status or (FAILED if any(one.failures for one in checked) else 0)


def _writable(output: str | None, inputs: Sequence[str | None]) -> None:
    """Refuse before the work what could not be written after it, or would replace what is read.

    Raises UsageError.
    """
    if output is None or output == _OUT:
        return
    folder = Path(output).parent
    if not folder.is_dir():
        raise UsageError("unwritable-output", f"there is no folder '{folder}'", hint="name a file in an existing folder")
    for one in inputs:
        if one is not None and one != _OUT and Path(one).exists() and Path(output).exists() and Path(output).samefile(one):
            raise UsageError("unwritable-output", f"--sarif {output} would replace what is read", hint="name another file")


def _limits(
    wcet: int | None, makespan: int | None, registers: int | None, divergent: int | None, *, bounded: bool, gaps: bool
) -> tuple[Gate, ...]:
    """Return the gates of the options, for every function."""
    given = ((Rule.MAX_WCET, wcet), (Rule.MAX_MAKESPAN, makespan), (Rule.MAX_REGISTERS, registers), (Rule.MAX_DIVERGENT, divergent))
    limits = [Gate(rule, limit, f"--{rule}") for rule, limit in given if limit is not None]
    flags = [Gate(rule, None, f"--{rule}") for rule, wanted in ((Rule.REQUIRE_BOUNDED, bounded), (Rule.NO_GAPS, gaps)) if wanted]
    return (*limits, *flags)


class _Checker:
    """The gates of one command, read and held against each other before any work."""

    def __init__(
        self,
        asked: Asked,
        limits: tuple[Gate, ...],
        *,
        control: bool,
        gates: str | None,
        partial: bool,
        baseline: str | None,
        growth: str | None,
    ) -> None:

        if growth is not None and baseline is None:
            raise UsageError("usage", "--max-growth needs what it grew from", hint="give --baseline OLD.json, too")
        self._control = control
        text = read_text(gates, "bad-gates", "a TOML file with a table per pattern of function names") if gates is not None else ""
        everywhere = (Demand("*", limits),) if limits else ()
        self._demands: tuple[Demand, ...] = (*everywhere, *(read_gates(gates, text) if gates is not None else ()))
        rules = {gate.rule for demand in self._demands for gate in demand.gates}
        if Rule.MAX_MAKESPAN in rules and asked.settings.warps is None and asked.settings.launch.block is None:
            raise UsageError("usage", "max-makespan needs the warps that share an SM", hint="give -W N or --block-dim")
        self._baseline = Baseline(asked, baseline, parsed(growth) if growth is not None else Growth()) if baseline is not None else None
        self._facts, self._partial, self._quiet = asked.settings.facts, partial, asked.quiet

    def checked(self, found: tuple[Result, ...], inputs: Inputs) -> list[Checked]:
        """Return every function with the gates that it fails; a gate that is for no function, or a baseline of none, is an error."""
        if not inputs.refused:
            self._all_used([one.analysis.function.name for one in found])
        rows = [documents.analysis(one.file, one.analysis) for one in found]
        numbers = [replace(saved_results.of(row), version=__version__) for row in rows]
        if self._baseline is not None:
            self._baseline.pair(numbers, partial=self._partial)
        held = enumerate(zip(found, rows, numbers, strict=True))
        return [self._held(place, one, row, now) for place, (one, row, now) in held]

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
                raise InputError("unknown-function", message, hint=hint)
        facts = self._facts if self._partial else None
        if facts is not None:
            unmatched.extend(f"{facts.name}: no function that is checked is '{name}'" for name, _ in facts.functions if name not in names)
        for text in () if self._quiet else unmatched:
            note(f"note: {safe(text)}\n")

    def _held(self, place: int, one: Result, row: Mapping[str, documents.Value], numbers: Numbers) -> Checked:

        wanted = [gate for demand in self._demands if gates.matches(numbers.name, demand.pattern) for gate in demand.gates]
        failed = list(gates.failures(numbers, wanted))
        rules = [gate.rule for gate in wanted]
        base = self._baseline
        if base is not None:
            failed.extend(base.failures(place, numbers))
            rules.extend([gates.Rule.GROWTH] if base.holds(place, numbers) else [])
        if self._control:
            function = one.analysis.function
            failed.extend(gates.control(function, check_control(function)))
            rules.append(gates.Rule.CONTROL)
        held_by = tuple(dict.fromkeys(rule.value for rule in rules))
        if base is None:
            return Checked(one, row, tuple(failed), held_by)
        return Checked(one, row, tuple(failed), held_by, base.unheld(place, numbers), base.conditions(place, numbers))

    def remarks(self, checked: list[Checked]) -> tuple[Remark, ...]:
        """Return what the verdict leaves open: functions without any gate, and what the baseline does not hold."""
        free = tuple(one.result.analysis.function.name for one in checked if not one.held_by)
        # Where the baseline is all there is, it says of the same functions that it does not hold them.
        found = [Remark("no-gate", "held by no gate", free)] if self._demands else []
        found.extend(self._baseline.remarks(checked) if self._baseline is not None else ())
        return tuple(one for one in found if one.names)

    @property
    def missing(self) -> list[str] | None:
        """Return the names that only the baseline has, None without one."""
        return [one.name for one in self._baseline.missing] if self._baseline is not None else None
