"""`sassan check`: gates for CI."""

from collections import Counter
from typing import TYPE_CHECKING

import typer

from sassan import documents
from sassan.cli import check_report, document, options
from sassan.cli.asked import Asked, analysis
from sassan.cli.check_report import Checked
from sassan.cli.inputs import Inputs, Result
from sassan.cli.terminal import middle, note, safe
from sassan.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sassan.gates import Failure, Gate
    from sassan.results import Result as Numbers

FAILED = 1
"""The status where a gate failed (cli.md)."""
_OUT = "-"


@analysis
def check(
    asked: Asked,
    *,
    max_wcet: options.MaxWcet = None,
    max_makespan: options.MaxMakespan = None,
    max_registers: options.MaxRegisters = None,
    max_divergent: options.MaxDivergent = None,
    require_bounded: options.RequireBounded = False,
    no_gaps: options.NoGaps = False,
    control: options.Control = False,
    gates: options.Gates = None,
    allow_unmatched: options.AllowUnmatched = False,
    baseline: options.Baseline = None,
    max_growth: options.MaxGrowth = None,
    sarif: options.Sarif = None,
    json: options.Json = False,
) -> None:
    """Hold every function to gates, for CI: status 1 where one fails.

    Each failure is one line with its place. A number that is not known (the function has gaps) fails every limit on it: unknown is not
    below N. A baseline is what 'sassan analyze --json' printed of an older build.

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
    if asked.settings.setup.paper or asked.settings.exploration.ablate:
        raise UsageError("usage", "--paper-experiment and --ablate give no bounds to hold to a gate", hint="leave them away")
    checker = _Checker(asked, limits, control=control, gates=gates, partial=allow_unmatched, baseline=baseline, growth=max_growth)
    results, inputs = asked.analyses(partial=allow_unmatched)
    checked = checker.checked(results, inputs)
    if sarif is not None:
        check_report.write_sarif(checked, inputs, sarif, _status(checked, inputs), quiet=asked.quiet)
    if json:
        document.show([check_report.row(one) for one in checked], inputs.refused)
    elif sarif != _OUT:
        check_report.show(checked, len(inputs.refused))
    checker.unused(checked, inputs)
    if _status(checked, inputs):
        raise typer.Exit(_status(checked, inputs))


def _status(checked: list[Checked], inputs: Inputs) -> int:
    return inputs.status or (FAILED if any(one.failures for one in checked) else 0)


def _limits(
    wcet: int | None, makespan: int | None, registers: int | None, divergent: int | None, *, bounded: bool, gaps: bool
) -> "tuple[Gate, ...]":
    """Return the gates of the options, for every function."""
    from sassan.gates import Gate, Rule

    given = ((Rule.MAX_WCET, wcet), (Rule.MAX_MAKESPAN, makespan), (Rule.MAX_REGISTERS, registers), (Rule.MAX_DIVERGENT, divergent))
    limits = [Gate(rule, limit, f"--{rule}") for rule, limit in given if limit is not None]
    flags = [Gate(rule, None, f"--{rule}") for rule, wanted in ((Rule.REQUIRE_BOUNDED, bounded), (Rule.NO_GAPS, gaps)) if wanted]
    return (*limits, *flags)


class _Checker:
    """The gates of one command, read and held against each other before any work."""

    def __init__(
        self,
        asked: Asked,
        limits: "tuple[Gate, ...]",
        *,
        control: bool,
        gates: str | None,
        partial: bool,
        baseline: str | None,
        growth: str | None,
    ) -> None:
        from sassan import pipeline, results
        from sassan.gates import Demand, Growth, Rule
        from sassan.gates import growth as parsed
        from sassan.gates import read as read_gates

        if growth is not None and baseline is None:
            raise UsageError("usage", "--max-growth needs what it grew from", hint="give --baseline OLD.json, too")
        self._control = control
        text = pipeline.read_text(gates, "bad-gates", "a TOML file with a table per pattern of function names") if gates is not None else ""
        everywhere = (Demand("*", limits),) if limits else ()
        self._demands: tuple[Demand, ...] = (*everywhere, *(read_gates(gates, text) if gates is not None else ()))
        rules = {gate.rule for demand in self._demands for gate in demand.gates}
        if Rule.MAX_MAKESPAN in rules and asked.warps is None and asked.settings.launch.block is None:
            raise UsageError("usage", "max-makespan needs the warps that share an SM", hint="give -W N or --block-dim")
        self._growth = parsed(growth) if growth is not None else Growth()
        self._baseline = baseline
        self._old: dict[tuple[str, str], list[Numbers]] = {}
        for one in results.load(baseline) if baseline is not None else ():
            self._old.setdefault((one.name, one.arch), []).append(one)
        self._facts, self._partial, self._quiet = asked.settings.facts, partial, asked.quiet

    def checked(self, found: tuple[Result, ...], inputs: Inputs) -> list[Checked]:
        """Return every function with the gates that it fails; a gate that is for no function, or a baseline of none, is an error."""
        from sassan import gates, results

        if not inputs.refused:
            self._all_used([one.analysis.function.name for one in found])
        rows = [(one, documents.analysis(one.file, one.analysis)) for one in found]
        numbers = [results.of(row) for _, row in rows]
        held = zip(rows, numbers, self._before(numbers), strict=True)
        checked = [
            Checked(one, row, tuple(self._failures(one, now, before)), gates.unheld(before, now) if self._baseline is not None else None)
            for (one, row), now, before in held
        ]
        known = sum((one.result.analysis.function.name, one.result.analysis.function.arch) in self._old for one in checked)
        if self._baseline is not None and checked and not known:
            message = f"{self._baseline}: holds none of the functions that are checked"
            raise InputError("baseline", message, hint="functions go by name and architecture: 'sassan diff' shows what changed")
        return checked

    def _all_used(self, names: list[str]) -> None:
        from sassan.gates import matches

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

    def _before(self, found: "list[Numbers]") -> "Iterator[list[Numbers]]":
        """Yield, for every function, what the baseline says of it.

        Of several with one name, as in a build of many files, those that are as many as in the baseline are held to these in order; of
        others nobody knows which was which, and each is held to all.
        """
        count = Counter((one.name, one.arch) for one in found)
        seen: Counter[tuple[str, str]] = Counter()
        for one in found:
            key = (one.name, one.arch)
            old = self._old.get(key, [])
            yield [old[seen[key]]] if len(old) == count[key] else old
            seen[key] += 1

    def _failures(self, one: Result, numbers: "Numbers", before: "list[Numbers]") -> "list[Failure]":
        from sassan import gates, pipeline

        wanted = [gate for demand in self._demands if gates.matches(numbers.name, demand.pattern) for gate in demand.gates]
        failed = list(gates.failures(numbers, wanted))
        failed.extend(dict.fromkeys(each for old in before for each in gates.grown(old, numbers, self._growth)))
        if self._control:
            function = one.analysis.function
            failed.extend(gates.control(function, pipeline.check_control(function)))
        return failed

    def unused(self, checked: list[Checked], inputs: Inputs) -> None:
        """Say what the baseline and the build do not share, or what the baseline does not know: nothing held it."""
        if self._baseline is None or self._quiet or inputs.refused:
            return
        here = {(one.result.analysis.function.name, one.result.analysis.function.arch) for one in checked}
        for what, names in (("not in the baseline", here - set(self._old)), ("only in the baseline", set(self._old) - here)):
            for name, arch in sorted(names):
                note(f"note: {middle(safe(name), 60)} ({safe(arch)}) is {what}\n")
        for one in checked:
            function = one.result.analysis.function
            if one.unheld and (function.name, function.arch) in self._old:
                what = " and the ".join(one.unheld)
                note(f"note: {middle(safe(function.name), 60)} ({safe(function.arch)}): the baseline does not know the {what}\n")
