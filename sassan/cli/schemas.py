"""The documents that commands print, and their JSON schemas: docs/reference/schema and docs/reference/json.md are made of them.

Nothing that runs a command imports this module.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sassan.app.advise.fields import AdviceFields, AdvisedFields
from sassan.app.analysis_fields import AnalysisFields, IpetFields
from sassan.app.block_table import BlocksFields
from sassan.app.builds.change_fields import ChangeFields
from sassan.app.builds.check_fields import CheckFields
from sassan.app.document_fields import ExplainedFields
from sassan.app.documents import DocumentFields, ErrorFields, RefusedFields
from sassan.app.estimate_fields import EstimatedFields, ExplainedLaunchFields, LaunchFields
from sassan.app.listing_fields import ListingFields
from sassan.app.makespan.document import InstanceFields, MakespanOfFileFields
from sassan.app.memory_fields import MemoryFields
from sassan.app.program_times import KernelTimeFields, ProgramBoundFields
from sassan.app.task.fields import TaskFields
from sassan.batch.lines import PlaceFields
from sassan.batch.summary import BatchSummaryFields
from sassan.cli.commands.cfg import CfgFields
from sassan.cli.commands.strings import StringsFields
from sassan.cli.reports.code import CodeFields
from sassan.cli.reports.compare import ComparisonFields
from sassan.cli.reports.control import ControlFields
from sassan.cli.reports.doctor import ExaminedFields
from sassan.cli.reports.gpus import PeakFields, ProductFields
from sassan.evolve.ranking.rank import RankingFields
from sassan.evolve.report import SearchFields
from sassan.fields.field import Declare, FieldKind, Record, Value
from sassan.fields.kinds import AMOUNT, COUNT, STRING, TEXT, array, mapping, merged, nullable, one, record_name
from sassan.fields.schema import schema
from sassan.measure.summary import SamplesFields
from sassan.measure.target.fields import TargetRowFields
from sassan.validation.document import ValidationFields

_key = Declare[Any]()
_FUNCTION = "one entry per function, also for one"
_LAUNCHES = "recorded launches, with `--launches`"
_SETTINGS: FieldKind[Any] = FieldKind({"type": "object"})


class CommandFields(DocumentFields):
    """What a command that reads inputs prints."""

    errors = _key(array(one(RefusedFields)), "inputs that were refused", optional=True)


def _of_functions(record: type[Record[Any]]) -> type[Record[Any]]:
    """Return the document that has an entry of one record for each function, and nothing else."""
    about = {"__doc__": f"A document of {record_name(record)}.", "functions": _key(array(one(record)), _FUNCTION)}
    return type(f"{record.__name__.removesuffix('Fields')}DocumentFields", (CommandFields,), about)


class AdviseDocumentFields(CommandFields):
    """What `sassan advise --json` prints."""

    advice = _key(array(one(AdviceFields)), "remedies that gain 2 % or more, best first; empty where nothing helps")
    binds = _key(TEXT, "what binds the launch that takes most time, null where nothing has an estimate")
    functions = _key(array(one(AdvisedFields)), _FUNCTION)


class AnalyzeDocumentFields(CommandFields):
    """What `sassan analyze --json` prints."""

    launches = _key(array(one(ExplainedLaunchFields)), _LAUNCHES, optional=True)
    total = _key(one(ProgramBoundFields), "all of them, one after the other", optional=True)
    functions = _key(array(one(ExplainedFields)), _FUNCTION)


class CheckDocumentFields(CommandFields):
    """What `sassan check --json` prints."""

    missing = _key(nullable(array(STRING)), "functions that only the baseline has, null without one")
    functions = _key(array(one(CheckFields)), _FUNCTION)


class DiffDocumentFields(CommandFields):
    """What `sassan diff --json` prints."""

    old = _key(STRING, "the one side")
    new = _key(STRING, "the other side")
    summary = _key(mapping(COUNT), "how many functions there are of each state")
    unknown = _key(
        mapping(array(STRING)), "names by what is left open: `growth-not-known`, `only-added`, `only-removed`, `other-conditions`"
    )
    functions = _key(array(one(ChangeFields)), _FUNCTION)


class CodeDocumentFields(CommandFields):
    """What `sassan diff --sass --json` prints."""

    old = _key(STRING, "the one side")
    new = _key(STRING, "the other side")
    functions = _key(array(one(CodeFields)), _FUNCTION)


class EstimateDocumentFields(CommandFields):
    """What `sassan estimate --json` prints."""

    launches = _key(array(one(LaunchFields)), _LAUNCHES, optional=True)
    kernels = _key(array(one(KernelTimeFields)), "kernels of the program by time, with `--launches`", optional=True)
    us = _key(AMOUNT, "all launches with an estimate, one after the other", unit="us", optional=True)
    total = _key(one(ProgramBoundFields), "the bound of all of them, one after the other", optional=True)
    functions = _key(array(one(EstimatedFields)), _FUNCTION)


class EvolveDocumentFields(DocumentFields):
    """What `sassan evolve --json` prints, and the file result.json."""

    _search = _key(merged(SearchFields), "the search")


class DoctorDocumentFields(DocumentFields):
    """What `sassan doctor --json` prints."""

    examined = _key(array(one(ExaminedFields)), "what was looked at")


class ProductsDocumentFields(DocumentFields):
    """What `sassan gpus --json` prints."""

    gpus = _key(array(one(ProductFields)), "the products")


class PeaksDocumentFields(DocumentFields):
    """What `sassan gpus --check --json` prints."""

    peaks = _key(array(one(PeakFields)), "peak rates of data sheets")


class StringsMakespanFields(DocumentFields):
    """What `sassan makespan STRING --json` prints."""

    _instance = _key(merged(InstanceFields), "the instance")


class TargetDocumentFields(DocumentFields):
    """What `sassan measure --assumptions ANSWERS --json` prints."""

    source = _key(STRING, "what was measured, when, with which driver")
    figures = _key(array(one(TargetRowFields)), "figures of the GPU")


class MeasureDocumentFields(CommandFields):
    """What `sassan measure --json` prints."""

    samples = _key(array(one(SamplesFields)), "one entry per file")


class RankDocumentFields(DocumentFields):
    """What `sassan rank --json` prints."""

    _ranking = _key(merged(RankingFields), "the ranking")


class TaskDocumentFields(CommandFields):
    """What `sassan task --json` prints."""

    task = _key(one(TaskFields), "the task")
    functions = _key(array(_SETTINGS), "empty: a task has launches")


class ValidateDocumentFields(DocumentFields):
    """What `sassan validate --json` prints."""

    _validation = _key(merged(ValidationFields), "the comparison")


class BatchHeadFields(DocumentFields):
    """The first line of the results of a batch."""

    settings = _key(_SETTINGS, "of all lines", key="batch.settings")


class BatchLineFields(Record[Any]):
    """The line of a function."""

    _analysis = _key(merged(AnalysisFields), "what is known of the function")
    launches = _key(array(one(LaunchFields)), _LAUNCHES, optional=True)
    input = _key(one(PlaceFields), "where the line belongs")


class LineErrorFields(ErrorFields):
    """Why a file or a function was refused."""

    status = _key(COUNT, "with which `analyze` would end")


class BatchRefusedFields(Record[Any]):
    """The line of a file or a function that was refused."""

    name = _key(STRING, "name of the function, of one", optional=True)
    arch = _key(STRING, "its architecture", optional=True)
    file = _key(STRING, "the file, as it was named")
    error = _key(one(LineErrorFields), "why it was refused")
    input = _key(one(PlaceFields), "where the line belongs")


class BatchNothingFields(Record[Any]):
    """The line of a file without a function that is asked for."""

    file = _key(STRING, "the file, as it was named")
    input = _key(one(PlaceFields), "where the line belongs")


class BatchDocumentFields(DocumentFields):
    """What `sassan batch --json` prints."""

    batch = _key(one(BatchSummaryFields), "what became of the batch")


DOCUMENTS: Mapping[str, Sequence[type[Record[Any]]]] = {
    "advise": (AdviseDocumentFields,),
    "analyze": (AnalyzeDocumentFields,),
    "batch": (BatchHeadFields, BatchLineFields, BatchRefusedFields, BatchNothingFields, BatchDocumentFields),
    "blocks": (_of_functions(BlocksFields),),
    "cfg": (_of_functions(CfgFields), _of_functions(ComparisonFields)),
    "check": (CheckDocumentFields,),
    "diff": (DiffDocumentFields, CodeDocumentFields),
    "estimate": (EstimateDocumentFields,),
    "evolve": (EvolveDocumentFields,),
    "doctor": (DoctorDocumentFields,),
    "gpus": (ProductsDocumentFields, PeaksDocumentFields),
    "ipet": (_of_functions(IpetFields),),
    "listing": (_of_functions(ListingFields), _of_functions(ControlFields)),
    "makespan": (StringsMakespanFields, _of_functions(MakespanOfFileFields)),
    "measure": (MeasureDocumentFields, TargetDocumentFields),
    "memory": (_of_functions(MemoryFields),),
    "rank": (RankDocumentFields,),
    "task": (TaskDocumentFields,),
    "strings": (_of_functions(StringsFields),),
    "validate": (ValidateDocumentFields,),
}
"""The documents that each command prints, by its name: one of them."""


def schema_of(command: str) -> Mapping[str, Value]:
    """Return the schema of the documents of a command."""
    return schema(f"sassan {command} --json", *DOCUMENTS[command])
