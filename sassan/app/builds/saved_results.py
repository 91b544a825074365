"""What is kept of one function between two builds: read from the documents that `analyze --json`, `check --json` and batches write.

A live analysis is converted by the same code (`of(document(AnalysisFields, …))`), so that gates and differences know one form only.
"""

import io
import sys
from codecs import BOM_UTF8
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from sassan.app.analysis_fields import (
    AnalysisFields,
    GridFields,
    KnownOccupancyFields,
    LoopFields,
    MakespanFields,
    OccupancyFields,
    WcetFields,
    WorstPathFields,
)
from sassan.app.builds.figures import GLOBAL, LOCAL, SHARED, CodeFigures, code_of
from sassan.app.builds.read_fields import made, value
from sassan.app.documents import SCHEMA, FunctionFields
from sassan.app.inputs import RefusedInput
from sassan.app.result import Loop
from sassan.checked import Fields, Format, shown
from sassan.errors import Gap, InputError
from sassan.fields.shared import GapFields
from sassan.source import decoded
from sassan.system.reading import beginning, read

_HINT = "sassan analyze --json writes such a file"
_FORMAT = Format("bad-results", _HINT, table="an object")
_LARGEST = 1 << 30
"""Bytes of a file of results: some 100,000 functions."""
_STANDARD_INPUT = "-"
_EXPERIMENTS = ("ablated for an experiment: ", "experiment of ")
"""How the assumptions of numbers begin that are no bounds."""


class Measure(StrEnum):
    """A number of a function; more is never better, save for resident warps."""

    WCET = "WCET"
    MAKESPAN = "makespan"
    GRID = "grid"
    REGISTERS = "registers"
    INSTRUCTIONS = "instructions"
    BLOCKS = "blocks"
    DIVERGENT = "divergent branches"
    LOCAL = "local memory"
    STACK = "stack accesses"
    ACCESSES = "memory accesses"
    PASSES = "wasted shared-memory passes"
    SECTORS = "wasted memory sectors"
    OCCUPANCY = "resident warps"


BOUNDS = (Measure.WCET, Measure.MAKESPAN, Measure.GRID)
"""The numbers that are bounds: one that is not known is lost, and not only missing."""
CODE = tuple(measure for measure in Measure if measure not in {*BOUNDS, Measure.BLOCKS})
"""The figures of the code that a baseline holds."""
TRANSACTIONS = frozenset({Measure.PASSES, Measure.SECTORS})
"""Those that depend on the block."""


@dataclass(frozen=True, slots=True)
class SavedResult:
    """One function of one input.

    `text` is the hash of its instructions, None where an older document has none. `numbers` follows Measure, None where a number is not
    known. `model` is the cost model of the WCET, `warps` how many share the SM in the makespan, None where none was asked for.
    `launched` says whether the shape of a block was given: then a makespan was asked for, though the warps may not be known. `block` is
    how many threads it has, `grid` how many blocks on how many SMs, None where it is not given; `version` is that of the tool, '' likewise.
    """

    name: str
    arch: str
    file: str
    text: str | None
    numbers: tuple[int | None, ...]
    model: str
    status: str
    warps: int | None
    string: str | None
    loops: tuple[Loop, ...]
    gaps: tuple[Gap, ...]
    assumptions: tuple[str, ...]
    launched: bool = False
    block: int | None = None
    grid: tuple[int, int] | None = None
    version: str = ""
    settings: Mapping[str, str] | None = None
    """What the numbers rest on, by the names of options; None where an older document does not tell."""
    code: CodeFigures | None = None
    """Its accesses and branches, None where an older document does not tell."""
    launch: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Grid and block of the launch, where the function has several."""

    @property
    def experiment(self) -> bool:
        """Say whether the numbers are those of an ablation or of the paper's experiment, which are no bounds."""
        return self.status == "experiment" or any(text.startswith(_EXPERIMENTS) for text in self.assumptions)

    def given(self, option: str) -> str | None:
        """Return what is given for an option, None where nothing is, or an older document does not tell."""
        return (self.settings or {}).get(option)

    def number(self, measure: Measure) -> int | None:
        """Return a number, None where it is not known."""
        return self.numbers[tuple(Measure).index(measure)]


def of(document: Mapping[str, object], name: str = "") -> SavedResult:
    """Return what a document says of one function; `name` is the file that it stands in, for errors.

    Raises InputError `bad-results`.
    """
    fields = Fields(_FORMAT, name or "results", document)
    wcet, makespan = fields.table("wcet"), fields.table("makespan")
    occupancy, grid, settings = fields.table("occupancy"), fields.table("grid"), fields.table("settings")
    blocks, sms = value(GridFields.grid_blocks, grid), value(GridFields.sms, grid)
    code = code_of(fields.table("profile")) if "profile" in fields else None
    numbers: dict[Measure, int | None] = {
        Measure.WCET: value(WcetFields.wcet, wcet),
        Measure.MAKESPAN: value(MakespanFields.makespan, makespan),
        Measure.GRID: value(GridFields.grid, grid),
        Measure.REGISTERS: value(AnalysisFields.registers, fields),
        Measure.INSTRUCTIONS: value(AnalysisFields.instructions, fields),
        Measure.BLOCKS: value(AnalysisFields.blocks, fields),
        Measure.DIVERGENT: value(AnalysisFields.divergent_branches, fields),
        Measure.OCCUPANCY: value(OccupancyFields.warps, occupancy),
        **(_figures(code) if code is not None else {}),
    }
    return SavedResult(
        name=fields.text("name"),
        arch=fields.text("arch"),
        file=value(FunctionFields.file, fields),
        text=fields.text("text") if "text" in fields else None,
        numbers=tuple(numbers.get(measure) for measure in Measure),
        model=value(WcetFields.model, wcet),
        status=value(WcetFields.status, wcet),
        warps=value(MakespanFields.warps, makespan),
        string=value(WorstPathFields.worst_path, fields.table("strings")),
        loops=tuple(made(Loop, LoopFields, loop) for loop in fields.tables("loops")),
        gaps=tuple(made(Gap, GapFields, gap) for gap in fields.tables("gaps")),
        assumptions=tuple(dict.fromkeys((*wcet.texts("assumptions"), *makespan.texts("assumptions")))),
        launched=bool(occupancy.values),
        block=value(KnownOccupancyFields.threads, occupancy),
        grid=(blocks, sms) if blocks is not None and sms is not None else None,
        launch=_launch(fields.table("launch")) if "launch" in fields else None,
        settings={key: settings.text(key, "") for key in settings.values} if "settings" in fields else None,
        code=code,
    )


def _figures(code: CodeFigures) -> Mapping[Measure, int | None]:
    return {
        Measure.LOCAL: code.local,
        **(
            {
                Measure.STACK: len(code.of(LOCAL)),
                Measure.ACCESSES: len(code.accesses) - len(code.of(LOCAL)),
                Measure.PASSES: code.wasted(SHARED),
                Measure.SECTORS: code.wasted(GLOBAL),
            }
            if code.accesses is not None
            else {}
        ),
    }


def _launch(fields: Fields) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return fields.wholes("grid"), fields.wholes("block")


@dataclass(frozen=True, slots=True)
class Saved:
    """What a file of results holds."""

    results: tuple[SavedResult, ...]
    refused: tuple[RefusedInput, ...]


@contextmanager
def is_results(path: str) -> Generator[bool]:
    """Say whether a file, or standard input for `-`, holds JSON rather than code; read it inside the block, since a pipe comes once only.

    Whoever reads code says why one cannot be read.
    """
    with ExitStack() as held:
        try:
            if path == _STANDARD_INPUT:
                stream = sys.stdin.buffer
                start = stream.peek(256) if isinstance(stream, io.BufferedReader) else b""
            else:
                start = held.enter_context(beginning(path, 256, _LARGEST))
        except (OSError, ValueError):
            start = b""
        yield start.removeprefix(BOM_UTF8).lstrip().startswith(b"{")


def load(path: str) -> Saved:
    """Return what a file of results, or standard input for `-`, holds: one JSON document, or lines that are documents or functions.

    Raises InputError `cannot-read` or `bad-results`.
    """
    try:
        data = sys.stdin.buffer.read(_LARGEST + 1) if path == _STANDARD_INPUT else read(path, _LARGEST)
        if len(data) > _LARGEST:
            raise InputError("bad-results", f"{path}: larger than {_LARGEST >> 20} MiB", hint=_HINT)
        text = decoded(data)
    except UnicodeDecodeError:
        raise InputError("bad-results", f"{path}: not UTF-8 text", hint=_HINT) from None
    except (OSError, ValueError) as error:
        raise InputError("cannot-read", f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None
    results: list[SavedResult] = []
    refused: list[RefusedInput] = []
    version = ""
    for document in _documents(path, text):
        version = document.table("tool").text("version", "") or version  # of lines, the first tells it
        results.extend(replace(of(values, path), version=version) for values in _functions(document))
        refused.extend(map(_refused, _errors(document)))
    return Saved(tuple(results), tuple(refused))


def _documents(path: str, text: str) -> Iterator[Fields]:
    """Yield the one document of a file, or those of its lines."""
    first = text.lstrip().partition("\n")[0].strip()
    if len(first) > 1 and first.endswith("}") and "\n" in text.strip():
        for number, line in enumerate(text.split("\n"), 1):  # not splitlines: a name may hold U+2028
            if line.strip():
                yield _FORMAT.json(f"{path}:{number}", line)
    else:
        yield _FORMAT.json(path, text)


def _functions(document: Fields) -> Iterator[Mapping[str, object]]:
    """Yield the functions of one document; the line of a file that was refused, or that holds none, and the first of a batch have none."""
    if document.values.get("schema", SCHEMA) != SCHEMA:
        raise document.fail("schema", f"{shown(document.values['schema'])} is not that of this version ({SCHEMA})")
    if "functions" in document:
        for function in document.tables("functions"):
            yield function.values
    elif "wcet" in document.values:
        yield document.values
    elif not _line_without_function(document):
        raise _FORMAT.refused(f"{document.name}: holds no results")


def _line_without_function(fields: Fields) -> bool:
    if "file" in fields:
        return bool(fields.table("error").values or fields.table("input").values)
    return bool(fields.table("batch").table("settings").values)


def _errors(fields: Fields) -> Iterator[Fields]:
    """Yield the refused inputs of one document: those of a list, or the one that a line of a batch stands for."""
    if "functions" in fields.values:
        yield from fields.tables("errors")
    elif "wcet" not in fields.values and "error" in fields.values:
        error = fields.table("error")
        yield replace(error, values={**error.values, "file": fields.text("file", "")})


def _refused(fields: Fields) -> RefusedInput:
    error = InputError(
        fields.text("code"), fields.text("message", "no reason given"), hint=fields.text("hint") if "hint" in fields else None
    )
    return RefusedInput(fields.text("file", ""), error)
