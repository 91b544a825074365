"""What `sassan check` says: a line per failure, a document, or SARIF."""

import json
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sassan import __version__
from sassan.app.builds import gates
from sassan.app.builds.checked import CheckedFunction, Remark
from sassan.app.builds.gates import Failure
from sassan.app.document_fields import ProfiledFields
from sassan.app.inputs import Inputs
from sassan.cli.output.files import save
from sassan.cli.output.terminal import colourful, label, message, out, safe
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, LINE, SIGNED, STRING, TEXT, FileLine, address, array, nullable, one, written
from sassan.names import middle
from sassan.plurals import count_of
from sassan.render import sarif
from sassan.render.sarif import Location, SarifResult, SarifRule

_RED, _PLAIN = "\x1b[1;31m", "\x1b[0m"
_COSTLY = 3
"""Blocks that are named where a WCET is too high."""
_NAMED, _WIDEST = 3, 140
"""Functions that a verdict names, and how long a name may be there."""


def show(checked: Sequence[CheckedFunction], refused: int, remarks: Sequence[Remark]) -> None:
    """Print one line per failure, then how many functions failed, how many inputs were not checked at all, and what is left open."""
    start, end = (_RED, _PLAIN) if colourful(sys.stdout) else ("", "")
    for entry in checked:
        for failure in entry.failures:
            place = f"{safe(entry.result.file)}:{label(entry.result.function.name)}:{address(_address(entry, failure))}"
            out(f"{place}: {start}{failure.rule}{end}: {message(failure.message)}{_behind(entry, failure)}\n")
    failed = sum(bool(entry.failures) for entry in checked)
    count = count_of(len(checked), "function")
    verdict = [f"{number} {outcome}" for number, outcome in ((failed, "failed"), (refused, "refused")) if number]
    out("; ".join([f"{count} checked, {', '.join(verdict) or 'all pass'}", *(brief(remark) for remark in remarks)]) + "\n")


def brief(remark: Remark) -> str:
    """The remark for the verdict: a few names, and how many more there are."""
    shown = ", ".join(middle(message(name), _WIDEST) for name in remark.names[:_NAMED])
    more = len(remark.names) - _NAMED
    return f"{remark.what}: {shown}" + (f" and {more} more" if more > 0 else "")


def _behind(entry: CheckedFunction, failure: Failure) -> str:
    """Return the source line that the place was made from, where the input knows it."""
    source = _source(entry, _address(entry, failure))
    return safe(f" [{source[0]}:{source[1]}]") if source else ""


def _address(entry: CheckedFunction, failure: Failure) -> int:
    return entry.result.function.entry if failure.address is None else failure.address


def _source(entry: CheckedFunction, address: int) -> tuple[str, int] | None:
    """Return the file and the line that an instruction was made from, None where the input has no line information."""
    lines = entry.result.function.lines
    place = bisect_right([line.address for line in lines], address)
    return (lines[place - 1].file, lines[place - 1].line) if place else None


class FailurePlace(NamedTuple):
    """A failure, and the function that fails."""

    entry: CheckedFunction
    failure: Failure


def places(entry: CheckedFunction) -> list[FailurePlace]:
    """Return the failures of a function."""
    return [FailurePlace(entry, each) for each in entry.failures]


def _line(place: FailurePlace) -> FileLine | None:
    source = _source(place.entry, _address(*place))
    return FileLine(*source) if source else None


_of_place, _of = Declare[FailurePlace](), Declare[CheckedFunction]()


class FailureFields(Record[FailurePlace]):
    """A gate that a function fails."""

    gate = _of_place(STRING, "which gate it is", lambda place: place.failure.rule.value, csv=True)
    address = _of_place(ADDRESS, "where", lambda place: _address(*place), csv=True)
    source = _of_place(LINE, "the line that it was made from", _line, csv=True)
    code = _of_place(TEXT, "of the gap or the finding", lambda place: place.failure.code or None, csv=True)
    value = _of_place(SIGNED, "what the function has", lambda place: place.failure.value, csv=True)
    limit = _of_place(SIGNED, "what the gate allows", lambda place: place.failure.limit, csv=True)
    message = _of_place(STRING, "what is wrong", lambda place: place.failure.message, csv=True)


class CheckFields(Record[CheckedFunction]):
    """What `sassan check` says of one function."""

    _analysis = _of(written(ProfiledFields, merged=True), "what is known of it", lambda entry: entry.row)
    failures = _of(array(one(FailureFields)), "the gates that it fails", places)
    held_by = _of(array(STRING), "the gates that hold it")
    unheld = _of(
        nullable(array(STRING)),
        "the bounds that the baseline does not know, null without one",
        lambda entry: [measure.name.lower() for measure in entry.unheld] if entry.unheld is not None else None,
    )
    conditions = _of(nullable(array(STRING)), "what of `settings` differs from the baseline, null without one")


def write_sarif(
    checked: Sequence[CheckedFunction], inputs: Inputs, remarks: Sequence[Remark], path: str, status: int, *, quiet: bool
) -> None:
    """Write the failures as SARIF to a file, or to standard output for `-`.

    Raises UsageError where the file cannot be written.
    """
    refused = tuple((refusal.error.code, refusal.error.message, refusal.file) for refusal in inputs.refused)
    files = tuple(dict.fromkeys([*(entry.result.file for entry in checked), *(refusal.file for refusal in inputs.refused)]))
    findings = tuple(_finding(entry, failure) for entry in checked for failure in entry.failures)
    warnings = tuple((remark.code, f"{remark.what}: {', '.join(map(message, remark.names))}") for remark in remarks)
    run = sarif.SarifRun(__version__, _rules(), findings, files, status, Path.cwd().as_posix(), refused, warnings)
    text = json.dumps(sarif.log(run), indent=2) + "\n"
    if path == "-":
        out(text)
        return
    save(path, text.encode(), quiet=quiet)


def _rules() -> tuple[SarifRule, ...]:

    def name(rule: gates.GateRule) -> str:
        return "".join(part.capitalize() for part in rule.value.split("-"))

    return tuple(SarifRule(rule.value, name(rule), *gates.EXPLAINED[rule]) for rule in gates.GateRule)


def _finding(entry: CheckedFunction, failure: Failure) -> SarifResult:

    function = entry.result.function
    first, *more = _places(entry, _address(entry, failure))
    related = [place for at, text in (*failure.related, *_costly(entry, failure)) for place in _places(entry, at, text)]
    properties = (
        ("function", function.name),
        ("arch", function.arch),
        ("code", failure.code),
        ("value", failure.value),
        ("limit", failure.limit),
    )
    return SarifResult(
        failure.rule.value,
        f"{label(function.name)}: {message(failure.message)}",
        first,
        (function.name, function.arch, failure.code),
        (*more, *related),
        tuple((key, value) for key, value in properties if value not in ("", None)),
    )


def _costly(entry: CheckedFunction, failure: Failure) -> tuple[tuple[int, str], ...]:
    """Return the blocks in which the most of a WCET that is too high is spent."""
    result = entry.result
    if failure.value is None or failure.value != result.wcet.value or failure.rule not in {gates.GateRule.MAX_WCET, gates.GateRule.GROWTH}:
        return ()
    counts = [0] * len(result.cfg.nodes)
    for edge, count in zip(result.cfg.edges, result.wcet.counts, strict=False):  # an optimum has them all, another bound none
        counts[edge.src] += count
    spent = sorted(zip(result.cfg.nodes, counts, result.problem.costs, strict=True), key=lambda row: (-row[1] * row[2], row[0].start))
    return tuple((node.start, f"{count} times {cost} cycles in this block") for node, count, cost in spent[:_COSTLY] if count * cost)


def _places(entry: CheckedFunction, address: int, text: str = "") -> Iterator[Location]:
    """Yield the source line of an instruction, where it is known, then its place in the input: a line of a listing, or an address."""
    function = entry.result.function
    source = _source(entry, address)
    if source is not None:
        yield Location(source[0], source[1], label(function.name), address, text, function.name)
    spans = {each.address: each.span.line for each in function.instructions}
    line = None if function.compiler is not None else spans.get(address)
    yield Location(entry.result.file, line, label(function.name), address, text, function.name)
