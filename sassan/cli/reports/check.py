"""What `sassan check` says: a line per failure, a document, or SARIF."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sassan import __version__
from sassan.app.builds import gates
from sassan.app.builds.check_fields import address_of, source_of
from sassan.app.builds.checked import CheckedFunction, Remark
from sassan.app.builds.gates import Failure
from sassan.app.inputs import Inputs
from sassan.cli.output.files import save
from sassan.cli.output.terminal import colourful, label, message, out, safe
from sassan.fields.kinds import address
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
            place = f"{safe(entry.result.file)}:{label(entry.result.function.name)}:{address(address_of(entry, failure))}"
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
    source = source_of(entry, address_of(entry, failure))
    return safe(f" [{source[0]}:{source[1]}]") if source else ""


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
    first, *more = _places(entry, address_of(entry, failure))
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
    source = source_of(entry, address)
    if source is not None:
        yield Location(source[0], source[1], label(function.name), address, text, function.name)
    spans = {each.address: each.span.line for each in function.instructions}
    line = None if function.compiler is not None else spans.get(address)
    yield Location(entry.result.file, line, label(function.name), address, text, function.name)
