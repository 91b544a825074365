"""`sassan cfg FILE --compare OTHER`: where two forms of one kernel diverge, and where they reconverge."""

from collections.abc import Mapping, Sequence

from sassan.app import documents
from sassan.app.inputs import Inputs, Selected
from sassan.app.settings import Settings
from sassan.app.views import compare_functions
from sassan.cli.output import document, table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import heading, label, note, out, safe
from sassan.errors import UsageError
from sassan.names import readable
from sassan.warpcfg.compare import Branch, Comparison, Pair

_LONGEST = 34


def run(left: Inputs, right: Inputs, settings: Settings, *, json: bool, quiet: bool) -> None:
    """Print every kernel that both inputs have, branch by branch; nothing where a refused input is why there is none.

    Raises UsageError where they have none in common, SelfCheckError.
    """
    others = {selected.function.name: selected for selected in right.selected}
    both = [(selected, others[selected.function.name]) for selected in left.selected if selected.function.name in others]
    refused = (*left.refused, *right.refused)
    if not both and not refused:
        raise UsageError("nothing-to-compare", "the two inputs have no function of one name", hint="sassan cfg FILE lists their functions")
    comparisons = [(selected, other, compare_functions(selected.function, other.function, settings)) for selected, other in both]
    if json:
        document.show([_document(*compared) for compared in comparisons], refused)
        return
    for selected, other, comparison in comparisons:
        _table(selected, other, comparison)
    missing = sorted({selected.function.name for selected in left.selected} ^ set(others))
    if missing and not refused and not quiet:
        note(f"only in one of the two: {', '.join(label(name) for name in missing)}\n")


def _table(left: Selected, right: Selected, comparison: Comparison) -> None:
    columns = (
        Column(left.function.arch if left.function.arch != right.function.arch else "left"),
        Column("", widest=_LONGEST),
        Column("diverges"),
        Column("reconv."),
        Column(right.function.arch if left.function.arch != right.function.arch else "right"),
        Column("", widest=_LONGEST),
        Column("diverges"),
        Column("reconv."),
        Column("verdict"),
    )
    sides = [(pair.left.address, pair.left, pair.right, _verdict(pair)) for pair in comparison.pairs]
    alone = [(branch.address, branch, None, "no match") for branch in comparison.left_only]
    rest = [(None, branch, "no match") for branch in comparison.right_only]
    rows = [(*_cells(left), *_cells(right), verdict) for _, left, right, verdict in sorted([*sides, *alone], key=lambda row: row[0])]
    rows += [(*_cells(left), *_cells(right), verdict) for left, right, verdict in rest]
    agree = sum(_verdict(pair) == "agree" for pair in comparison.pairs)
    out(f"{heading(left.function.name)}: {safe(left.file)} against {safe(right.file)}\n")
    table.show(Table(columns, tuple(rows)))
    alone_in = f"{len(comparison.left_only)} and {len(comparison.right_only)}"
    out(f"{agree} of {len(comparison.pairs)} matched branches agree; {alone_in} have no match\n\n")


def _cells(branch: Branch | None) -> tuple[str, str, str, str]:
    if branch is None:
        return "", "", "", ""
    place = "-" if not branch.divergent else "end" if branch.reconverges is None else documents.address(branch.reconverges)
    return documents.address(branch.address), branch.text, "yes" if branch.divergent else "no", place


def _verdict(pair: Pair) -> str:
    if not pair.same_divergence:
        return "divergence differs"
    return "agree" if pair.same_reconvergence in {None, True} else "reconvergence differs"


def _document(left: Selected, right: Selected, comparison: Comparison) -> Mapping[str, object]:
    return {
        "name": left.function.name,
        "demangled": readable(left.function.name),
        "left": {"file": left.file, "arch": left.function.arch},
        "right": {"file": right.file, "arch": right.function.arch},
        "pairs": [
            {
                "left": _branch(pair.left),
                "right": _branch(pair.right),
                "same_divergence": pair.same_divergence,
                "same_reconvergence": pair.same_reconvergence,
            }
            for pair in comparison.pairs
        ],
        "left_only": _branches(comparison.left_only),
        "right_only": _branches(comparison.right_only),
    }


def _branches(several: Sequence[Branch]) -> list[Mapping[str, documents.Value]]:
    return [_branch(branch) for branch in several]


def _branch(branch: Branch) -> Mapping[str, documents.Value]:
    return {
        "address": documents.address(branch.address),
        "text": branch.text,
        "divergent": branch.divergent,
        "reconverges": None if branch.reconverges is None or not branch.divergent else documents.address(branch.reconverges),
    }
