"""Records that documents of several commands hold: gaps, assumptions, cost models."""

from collections.abc import Iterable, Mapping, Sequence

from sassan.assumptions import AssumptionStatus, kinds
from sassan.errors import Gap
from sassan.fields.field import Declare, FieldKind, Record
from sassan.fields.kinds import ADDRESS, CODE, STRING, array, choice, mapping, one

_of_gap, _of_texts = Declare[Gap](), Declare[Sequence[str]]()

MODEL = choice("unit", "table", "control", "measured")
"""The cost models."""


class GapFields(Record[Gap]):
    """What is not understood, and forbids a number."""

    code = _of_gap(CODE, "which gap it is, of the page on gap codes")
    address = _of_gap(ADDRESS, "address of the instruction")
    message = _of_gap(STRING, "what is missing, in words")


def _codes(gaps: Sequence[Gap]) -> list[str]:
    return [gap.code for gap in gaps]


_LIST = array(one(GapFields))
GAPS: FieldKind[Sequence[Gap]] = FieldKind(
    _LIST.schema, _LIST.write, _codes, lambda gaps: ", ".join(sorted(set(_codes(gaps)))), records=_LIST.records
)
"""Gaps; CSV has their codes, a table each once."""


class AssumedFields(Record[Sequence[str]]):
    """What a number rests on."""

    assumptions = _of_texts(array(STRING), "what the number rests on", lambda texts: texts)
    assumption_kinds = _of_texts(array(choice(*AssumptionStatus)), "what backs each of them", kinds)


TARGETS: FieldKind[Mapping[str, Iterable[int]]] = mapping(array(ADDRESS), ADDRESS.schema)
"""Addresses that each address leads to."""
