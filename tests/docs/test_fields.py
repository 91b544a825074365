"""What is declared once stands everywhere: in JSON, CSV, the table, the schema, the reference and the library."""

import csv
import io
import sys
from dataclasses import dataclass

import pytest

import sassan
from cli.shell import SAMPLES
from docs.pages import DOCS, ROOT
from json_schemas import records, schema
from sassan.api.kernels import Kernel
from sassan.app.analysis_fields import AnalysisFields
from sassan.app.result import AnalysisResult
from sassan.cli.output import csv as sheet
from sassan.cli.output import table
from sassan.cli.schemas import DOCUMENTS
from sassan.fields.field import Declare, Field, Node, document, heads, titles
from sassan.fields.kinds import COUNT, record_name
from sassan.fields.schema import schema as schema_of
from sassan.fields.schema import within

sys.path.append(str(ROOT / "scripts" / "_lib"))
import json_page

SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"


class GrownFields(AnalysisFields):
    """What a project says of one function, with a field of its own."""

    stores = Declare[AnalysisResult]()(
        COUNT,
        "stores in the code",
        lambda result: sum(each.opcode.startswith("ST") for each in result.function.instructions),
        unit="instructions",
        csv=True,
        head="STs",
    )


@dataclass(frozen=True, repr=False)
class GrownKernel(GrownFields, Kernel):
    analysis: AnalysisResult


def test_a_field_of_a_project_stands_in_all_six(capsys: pytest.CaptureFixture[str]):
    kernel = sassan.analyze(str(SAXPY))["saxpy"]
    assert document(GrownFields, kernel.analysis)["stores"] == 1
    sheet.of_fields(GrownFields, [kernel.analysis])
    (line,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert line["stores"] == "1"
    shown = table.of_fields(GrownFields, [kernel.analysis])
    assert dict(zip([column.title for column in shown.columns], shown.rows[0], strict=True))["STs"] == "1"
    known = schema_of("grown", GrownFields)
    assert "stores" in known["required"]
    assert known["properties"]["stores"] == {"description": "stores in the code, in instructions", **COUNT.schema}
    assert "| `stores` | integer | `stores` | `STs` | stores in the code, in instructions |" in json_page._described(GrownFields, [])
    assert GrownKernel(kernel.analysis).stores == 1
    assert GrownKernel(kernel.analysis).wcet == kernel.wcet


def test_the_records_of_documents_have_names_of_their_own():
    names = [record_name(each) for each in records()]
    assert len(names) == len(set(names)) > 80


@pytest.mark.parametrize("command", DOCUMENTS)
def test_every_field_of_a_command_stands_in_its_schema_and_on_the_page(command: str):
    known, page = schema(command), (DOCS / "reference" / "json.md").read_text("utf-8")
    for record in DOCUMENTS[command]:
        top = known if len(DOCUMENTS[command]) == 1 else known["$defs"][record_name(record)]
        for each, part in [(record, top), *((inner, known["$defs"].get(record_name(inner), top)) for inner in within(record))]:
            assert set(paths(each.tree)) <= set(described(part)) or each in merged_in(record), each
            for field in each.fields:
                assert field.key is None or field.kind.merged or f"`{field.key}`" in page, field
                assert f"{' '.join(field.meaning.replace('|', '').split())}" in page or field.kind.merged or field.name == "schema", field
                assert field.csv in {"", *heads(each)}
                assert field.head in {"", *titles(each)}


def paths(nodes: dict[str, Node], above: str = "") -> list[str]:
    """The paths of the keys of a record, those of merged ones left to them."""
    out: list[str] = []
    for key, node in nodes.items():
        if isinstance(node, Field):
            out += [] if node.kind.merged else [f"{above}{key}"]
        else:
            out += paths(node, f"{above}{key}.")
    return out


def merged_in(record) -> set:
    """The records whose keys are those of another one."""
    several = [record, *within(record)]
    return {inner for each in several for field in each.fields if field.kind.merged for inner in field.kind.records}


def described(part, above: str = "") -> list[str]:
    """The paths of the keys of a part of a schema."""
    out: list[str] = []
    for key, value in part.get("properties", {}).items():
        out += [f"{above}{key}", *described(value, f"{above}{key}.")]
    return out


def test_every_public_field_of_an_analysis_is_a_property_of_a_kernel():
    kernel = sassan.analyze(str(SAXPY))["saxpy"]
    public = [name for base in Kernel.__mro__ for name, each in vars(base).items() if isinstance(each, Field) and not name.startswith("_")]
    page = (DOCS / "reference" / "api.md").read_text("utf-8")
    assert len(public) > 25
    for name in public:
        getattr(kernel, name)
        assert f"* `{name}`: " in page
