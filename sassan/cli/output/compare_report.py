"""`sassan cfg FILE --compare OTHER`: where two forms of one kernel part the threads, and where they meet again."""

from collections.abc import Mapping, Sequence

from sassan.app import documents
from sassan.app.inputs import Inputs, Selected
from sassan.app.settings import Settings
from sassan.app.views import compare_functions
from sassan.cli.output import document
from sassan.cli.output.table import Column, Table
from sassan.cli.output.table import show as show_table
from sassan.cli.output.terminal import note, out, safe
from sassan.errors import UsageError
from sassan.warpcfg.compare import Branch, Comparison, Pair

_LONGEST = 34


def run(left: Inputs, right: Inputs, settings: Settings, *, json: bool, quiet: bool) -> None:
    """Print every kernel that both inputs have, branch by branch.

    Raises UsageError where they have none in common, SelfCheckError.
    """
    others = {one.function.name: one for one in right.selected}
    both = [(one, others[one.function.name]) for one in left.selected if one.function.name in others]
    if not both:
        raise UsageError("nothing-to-compare", "the two inputs have no function of one name", hint="sassan cfg FILE lists their functions")
    found = [(one, other, compare_functions(one.function, other.function, settings)) for one, other in both]
    if json:
        document.show([_document(*one) for one in found], (*left.refused, *right.refused))
        return
    for one, other, comparison in found:
        _table(one, other, comparison)
    missing = sorted({one.function.name for one in left.selected} ^ set(others))
    if missing and not quiet:
        note(f"only in one of the two: {', '.join(safe(name) for name in missing)}\n")


def _table(one: Selected, other: Selected, found: Comparison) -> None:
    columns = (
        Column(one.function.arch if one.function.arch != other.function.arch else "left"),
        Column("", widest=_LONGEST),
        Column("parts"),
        Column("meets"),
        Column(other.function.arch if one.function.arch != other.function.arch else "right"),
        Column("", widest=_LONGEST),
        Column("parts"),
        Column("meets"),
        Column("verdict"),
    )
    sides = [(pair.left.address, pair.left, pair.right, _verdict(pair)) for pair in found.pairs]
    alone = [(branch.address, branch, None, "no match") for branch in found.left_only]
    rest = [(None, branch, "no match") for branch in found.right_only]
    rows = [(*_cells(left), *_cells(right), verdict) for _, left, right, verdict in sorted([*sides, *alone], key=lambda row: row[0])]
    rows += [(*_cells(left), *_cells(right), verdict) for left, right, verdict in rest]
    agree = sum(_verdict(pair) == "agree" for pair in found.pairs)
    out(f"{safe(one.function.name)}: {safe(one.file)} against {safe(other.file)}\n")
    show_table(Table(columns, tuple(rows)))
    out(f"{agree} of {len(found.pairs)} matched branches agree; {len(found.left_only)} and {len(found.right_only)} have no match\n\n")


def _cells(branch: Branch | None) -> tuple[str, str, str, str]:
    if branch is None:
        return "", "", "", ""
    meets = "-" if not branch.divergent else "end" if branch.reconverges is None else documents.address(branch.reconverges)
    return documents.address(branch.address), branch.text, "yes" if branch.divergent else "no", meets


def _verdict(pair: Pair) -> str:
    if not pair.same_divergence:
        return "divergence differs"
    return "agree" if pair.same_reconvergence in {None, True} else "reconvergence differs"


def _document(one: Selected, other: Selected, found: Comparison) -> Mapping[str, object]:
    return {
        "name": one.function.name,
        "left": {"file": one.file, "arch": one.function.arch},
        "right": {"file": other.file, "arch": other.function.arch},
        "pairs": [
            {
                "left": _branch(pair.left),
                "right": _branch(pair.right),
                "same_divergence": pair.same_divergence,
                "same_reconvergence": pair.same_reconvergence,
            }
            for pair in found.pairs
        ],
        "left_only": _branches(found.left_only),
        "right_only": _branches(found.right_only),
    }


def _branches(several: Sequence[Branch]) -> list[Mapping[str, documents.Value]]:
    return [_branch(one) for one in several]


def _branch(one: Branch) -> Mapping[str, documents.Value]:
    return {
        "address": documents.address(one.address),
        "text": one.text,
        "divergent": one.divergent,
        "meets": None if one.reconverges is None or not one.divergent else documents.address(one.reconverges),
    }
