"""A field is declared once: what it is in a document, in CSV, in a table, in the schema, as a property."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from jsonschema import Draft202012Validator as DIALECT  # noqa: N814 - the dialect of our schemas

from sassan.cli.output import csv as sheet
from sassan.cli.output import table
from sassan.fields.field import Declare, Record, cells, document, heads, row
from sassan.fields.kinds import (
    ADDRESS,
    BOUND,
    COUNT,
    LINE,
    MICROSECONDS,
    NAME,
    STRING,
    array,
    choice,
    mapping,
    merged,
    nullable,
    one,
    written,
)
from sassan.fields.schema import schema, within
from sassan.ir import SourceLine


@dataclass(frozen=True)
class Part:
    at: int
    weight: int | None = None


@dataclass(frozen=True)
class Whole:
    name: str
    us: float | None = None
    parts: tuple[Part, ...] = ()
    first: Part | None = None
    shares: Mapping[str, int] = field(default_factory=dict)
    line: SourceLine | None = None


_of_part, _of = Declare[Part](), Declare[Whole]()


class PartFields(Record[Part]):
    """A part."""

    at = _of_part(ADDRESS, "where it is", key="address", csv="at", head="address")
    weight = _of_part(BOUND, "how heavy it is", unit="kg", csv=True, head="weight")


class WholeFields(Record[Whole]):
    """A whole."""

    name = _of(NAME, "of the whole", csv=True, head="whole")
    parts = _of(array(one(PartFields)), "its parts")
    count = _of(
        COUNT,
        "how many parts it has",
        lambda whole: len(whole.parts),
        key="figures.count",
        csv=True,
        head="parts",
        shown=lambda whole: f"{len(whole.parts)}!",
    )
    us = _of(MICROSECONDS, "how long it takes", unit="us", key="figures.us", csv="us", after="name", head="us", head_after="whole")
    first = _of(nullable(one(PartFields)), "the first part", flat=True)
    shares = _of(mapping(COUNT), "by name", when=lambda whole: bool(whole.shares))
    line = _of(LINE, "where it stands", key="source", csv="source")
    _sum = _of(
        BOUND,
        "the weight of all",
        lambda whole: sum(part.weight or 0 for part in whole.parts),
        key=None,
        csv="sum",
        cell=lambda _: "heavy",
        head="sum",
    )
    verbose = _of(STRING, "in words", lambda whole: f"a {whole.name}", optional=True)


SMALL = Whole("a")
LARGE = Whole("b", 2.001, (Part(0x10, 3), Part(0x20)), Part(0x10, 3), {"x": 1}, SourceLine(0, "dir/k.cu", 7))


def test_a_document_has_what_is_declared_in_order():
    assert list(document(WholeFields, SMALL).items()) == [
        ("name", "a"),
        ("parts", []),
        ("figures", {"count": 0, "us": None}),
        ("first", None),
        ("source", None),
    ]
    part = {"address": "0x0010", "weight": 3}
    assert document(WholeFields, LARGE, "verbose") == {
        "name": "b",
        "parts": [part, {"address": "0x0020", "weight": None}],
        "figures": {"count": 2, "us": 2.001},
        "first": part,
        "shares": {"x": 1},
        "source": {"file": "dir/k.cu", "line": 7},
        "verbose": "a b",
    }


def test_columns_of_csv_are_those_of_flat_records_too_and_stand_where_they_are_declared():
    assert heads(WholeFields) == ("name", "us", "figures_count", "at", "weight", "source", "sum")
    assert row(WholeFields, SMALL) == {
        "name": "a",
        "us": None,
        "figures_count": 0,
        "at": None,
        "weight": None,
        "source": None,
        "sum": "heavy",
    }
    assert row(WholeFields, LARGE)["at"] == "0x0010"


def test_cells_of_a_table_are_shown_as_declared():
    assert cells(WholeFields, LARGE) == {"whole": "b", "parts": "2!", "us": "2.01", "address": "0x0010", "weight": "3", "sum": "3"}
    assert cells(WholeFields, SMALL) == {"whole": "a", "parts": "0!", "us": "-", "address": "-", "weight": "-", "sum": "0"}
    shown = table.of_fields(WholeFields, [LARGE], without=("sum",), heads={"parts": "PARTS"})
    assert [(each.title, each.number, each.names) for each in shown.columns] == [
        ("whole", False, True),
        ("us", True, False),
        ("PARTS", True, False),
        ("address", False, False),
        ("weight", True, False),
    ]
    assert shown.rows == (("b", "2.01", "2!", "0x0010", "3"),)


def test_csv_prints_them(capsys: pytest.CaptureFixture[str]):
    sheet.of_fields(WholeFields, [SMALL, LARGE])
    first, second = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (first["us"], first["at"], second["source"], second["weight"]) == ("", "", "dir/k.cu:7", "3")


def test_a_merged_record_is_part_of_the_object_and_of_its_row():
    class Named(Record[Whole]):
        """A whole that stands in another object."""

        _whole = Declare[Whole]()(merged(WholeFields), "the whole", lambda whole: whole)
        last = Declare[Whole]()(STRING, "behind it", lambda _: "z", csv=True)

    assert document(Named, SMALL) == {**document(WholeFields, SMALL), "last": "z"}
    assert heads(Named) == (*heads(WholeFields), "last")
    assert schema("named", Named)["required"] == ["name", "parts", "figures", "first", "source", "last"]


def test_a_schema_admits_what_is_written_and_nothing_less():
    whole = schema("a whole", WholeFields)
    DIALECT.check_schema(whole)
    for known in (SMALL, LARGE):
        DIALECT(whole).validate(document(WholeFields, known, "verbose"))
        for key in document(WholeFields, SMALL):
            assert list(DIALECT(whole).iter_errors({name: value for name, value in document(WholeFields, known).items() if name != key}))
    assert list(DIALECT(whole).iter_errors({**document(WholeFields, SMALL), "name": 7}))
    figures = whole["properties"]["figures"]["properties"]
    assert figures["us"]["description"] == "how long it takes, in us"
    assert list(within(WholeFields)) == [PartFields, PartFields]


def test_an_object_of_a_record_has_the_values_as_properties():
    @dataclass(frozen=True)
    class Thing(WholeFields):
        whole: Whole

        @property
        def subject(self) -> Whole:
            return self.whole

    thing = Thing(LARGE)
    assert (thing.name, thing.us, thing.count, thing.first) == ("b", 2.001, 2, Part(0x10, 3))
    assert WholeFields.us.__doc__ == "how long it takes, in us"
    with pytest.raises(NotImplementedError):
        _ = WholeFields().name


def test_a_record_that_extends_another_begins_with_its_fields():
    class Longer(PartFields):
        """A part with a name."""

        label = Declare[Part]()(STRING, "its name", lambda part: f"p{part.at}")

    assert list(document(Longer, Part(1))) == ["address", "weight", "label"]


def test_what_is_one_of_several_records_is_written_already():
    both = schema("either", PartFields, WholeFields)
    DIALECT(both).validate(document(PartFields, Part(1)))
    DIALECT(both).validate(document(WholeFields, SMALL))
    assert list(DIALECT(both).iter_errors({"weight": 1}))
    assert written(PartFields).schema == one(PartFields).schema


def test_a_choice_admits_no_other_name():
    assert choice("x", "y").schema == {"enum": ["x", "y"]}
