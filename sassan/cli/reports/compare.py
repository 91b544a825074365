"""`sassan cfg FILE --compare OTHER`: where two forms of one kernel diverge, and where they reconverge."""

from typing import NamedTuple

from sassan.app.inputs import Inputs, SelectedFunction
from sassan.app.settings import Settings
from sassan.app.views import compare_functions
from sassan.cli.output import document, table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import heading, label, note, out, safe
from sassan.errors import UsageError
from sassan.fields import field as fields
from sassan.fields.field import NONE, Declare, Record
from sassan.fields.kinds import ADDRESS, FLAG, STRING, address, array, nullable, one
from sassan.names import readable
from sassan.warpcfg.compare import ComparedBranch, Comparison, Pair

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
        document.show([fields.document(ComparisonFields, ComparedKernel(*compared)) for compared in comparisons], refused)
        return
    for selected, other, comparison in comparisons:
        _table(selected, other, comparison)
    missing = sorted({selected.function.name for selected in left.selected} ^ set(others))
    if missing and not refused and not quiet:
        note(f"only in one of the two: {', '.join(label(name) for name in missing)}\n")


def _table(left: SelectedFunction, right: SelectedFunction, comparison: Comparison) -> None:
    archs = (left.function.arch, right.function.arch) if left.function.arch != right.function.arch else ("left", "right")
    columns = (
        *(
            column
            for arch in archs
            for column in table.of_fields(ComparedBranchFields, (), heads={"left": arch, "instruction": ""}).columns
        ),
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


def _cells(branch: ComparedBranch | None) -> tuple[str, ...]:
    (row,) = table.of_fields(ComparedBranchFields, [branch]).rows if branch is not None else [("",) * 4]
    return row


def _place(branch: ComparedBranch) -> str:
    return NONE if not branch.divergent else "end" if branch.reconverges is None else address(branch.reconverges)


def _verdict(pair: Pair) -> str:
    if not pair.same_divergence:
        return "divergence differs"
    return "agree" if pair.same_reconvergence in {None, True} else "reconvergence differs"


class ComparedKernel(NamedTuple):
    """A kernel of two inputs, and its branches side by side."""

    left: SelectedFunction
    right: SelectedFunction
    comparison: Comparison


_of_branch, _of_pair, _of, _of_side = Declare[ComparedBranch](), Declare[Pair](), Declare[ComparedKernel](), Declare[SelectedFunction]()


class ComparedBranchFields(Record[ComparedBranch]):
    """A conditional branch or exit, all call contexts together."""

    address = _of_branch(ADDRESS, "of the instruction", head="left")
    text = _of_branch(STRING, "of the instruction", head="instruction", widest=_LONGEST)
    divergent = _of_branch(FLAG, "whether it may split the warp", head="diverges", shown=lambda branch: "yes" if branch.divergent else "no")
    reconverges = _of_branch(
        nullable(ADDRESS),
        "where its sides reconverge, null at the end",
        lambda branch: branch.reconverges if branch.divergent else None,
        head="reconv.",
        shown=_place,
    )


class BranchPairFields(Record[Pair]):
    """A branch of each graph."""

    left = _of_pair(one(ComparedBranchFields), "that of the one")
    right = _of_pair(one(ComparedBranchFields), "that of the other")
    same_divergence = _of_pair(FLAG, "whether both may split the warp, or none")
    same_reconvergence = _of_pair(nullable(FLAG), "whether they reconverge at the same place, null where not both split")


class SideFields(Record[SelectedFunction]):
    """An input."""

    file = _of_side(STRING, "as it was named")
    arch = _of_side(STRING, "architecture: `sm_61`", lambda selected: selected.function.arch)


class ComparisonFields(Record[ComparedKernel]):
    """What `sassan cfg --compare` says of one kernel."""

    name = _of(STRING, "name of the function, as the input has it", lambda each: each.left.function.name)
    demangled = _of(STRING, "name of the function, as the source has it", lambda each: readable(each.left.function.name))
    left = _of(one(SideFields), "the one input")
    right = _of(one(SideFields), "the other input")
    pairs = _of(array(one(BranchPairFields)), "branches that were matched, in program order", lambda each: each.comparison.pairs)
    left_only = _of(array(one(ComparedBranchFields)), "branches of the one alone", lambda each: each.comparison.left_only)
    right_only = _of(array(one(ComparedBranchFields)), "branches of the other alone", lambda each: each.comparison.right_only)
