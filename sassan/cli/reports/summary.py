"""`sassan check --summary`: what a reviewer of a pull request reads, as Markdown."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from sassan.app.builds.checked import CheckedFunction, Remark
from sassan.app.builds.numbers import growth_text
from sassan.app.builds.saved_results import BOUNDS, Measure
from sassan.app.builds.why import since
from sassan.cli.output.terminal import label, message, safe
from sassan.plurals import count_of

_MARKS = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>#|~&"})
_HEAD = ("| function | WCET | makespan | grid | why |", "|---|---|---|---|---|")


class Weight(StrEnum):
    """How much a change matters."""

    SIGNIFICANT = "significant"
    UNCLEAR = "unclear"
    BENIGN = "benign"


_MEANING: Mapping[Weight, str] = {
    Weight.SIGNIFICANT: "fails a gate",
    Weight.UNCLEAR: "not held by the baseline, or made under other conditions",
    Weight.BENIGN: "other numbers or other code, within what is allowed",
}


def weight(entry: CheckedFunction) -> Weight | None:
    """Return how much what changed in a function matters, None where nothing did."""
    if entry.failures:
        return Weight.SIGNIFICANT
    if entry.unheld or entry.conditions:
        return Weight.UNCLEAR
    return Weight.BENIGN if entry.old is not None and _differs(entry) else None


def _differs(entry: CheckedFunction) -> bool:
    old, new = entry.old, entry.now
    return old is not None and new is not None and (old.text != new.text or any(old.number(each) != new.number(each) for each in Measure))


def text(checked: Sequence[CheckedFunction], refused: int, remarks: Sequence[Remark]) -> str:
    """Return the summary: a verdict, a table of the functions of each weight, and what is left open."""
    failed = sum(bool(entry.failures) for entry in checked)
    single = len(checked) == 1
    passed = "the function passes" if single else f"all {len(checked)} functions pass"
    verdict = f"{failed} of {len(checked)} function{'' if single else 's'} failed" if failed else passed
    inputs = f", {count_of(refused, 'input')} refused" if refused else ""
    lines = [f"### sassan: {verdict}{inputs}", ""]
    for each in Weight:
        entries = [entry for entry in checked if weight(entry) is each]
        if entries:
            lines += [
                f"**{each.value.capitalize()}** ({_MEANING[each]})",
                "",
                *_HEAD,
            ]
            lines += [_row(entry) for entry in entries] + [""]
    same = sum(weight(entry) is None for entry in checked)
    lines += [f"{same} without a change."] if same else []
    lines += [f"- {_plain(remark.what)}: {_plain(message(', '.join(remark.names)))}" for remark in remarks]
    return "\n".join(lines) + "\n"


def _row(entry: CheckedFunction) -> str:
    why = [f"{failure.rule}: {failure.message}" for failure in entry.failures] or [*(entry.conditions or ())]
    if not why and entry.unheld:
        why = [f"not in the baseline: {', '.join(measure.value for measure in entry.unheld)}"]
    if not why and entry.old is not None and entry.now is not None:
        why = [since(entry.old, entry.now)[0]]
    function = entry.result.function
    cells = [
        f"{label(function.name, 80)} ({function.arch})",
        *(_bound(entry, each) for each in BOUNDS),
        message("; ".join(why)),
    ]
    return f"| {' | '.join(map(_plain, cells))} |"


def _bound(entry: CheckedFunction, measure: Measure) -> str:
    new = entry.now.number(measure) if entry.now is not None else None
    old = entry.old.number(measure) if entry.old is not None else None
    if old is None or new is None or old == new:
        return "" if new is None and old is None else f"{old} → unknown" if new is None else str(new)
    return f"{old} → {new} ({growth_text(old, new)})"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is: names are untrusted."""
    return safe(text).translate(_MARKS)
