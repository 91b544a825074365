"""What is kept of one function between two builds: read from the documents that `analyze --json`, `check --json` and batches write.

A live analysis takes the same way (`of(documents.analysis(…))`), so that gates and differences know one form only.
"""

import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import cast

from sassan.app.documents import SCHEMA
from sassan.errors import InputError

_HINT = "sassan analyze --json writes such a file"
_STANDARD_INPUT = "-"
_EXPERIMENTS = ("ablated for an experiment: ", "experiment of the 2023 paper: ")
"""How the assumptions of numbers begin that are no bounds."""


class Measure(StrEnum):
    """A number of a function; more is never better."""

    WCET = "WCET"
    MAKESPAN = "makespan"
    GRID = "grid"
    REGISTERS = "registers"
    INSTRUCTIONS = "instructions"
    BLOCKS = "blocks"
    DIVERGENT = "divergent branches"


BOUNDS = (Measure.WCET, Measure.MAKESPAN, Measure.GRID)
"""The numbers that are bounds: one that is not known is lost, and not only untold."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: the address of its head, the calls that lead to it, how often a thread goes back, and where that is known from."""

    head: str
    context: tuple[str, ...]
    bound: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap: its code, the address of the instruction, and what is missing."""

    code: str
    address: int
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """One function of one input.

    `text` is the hash of its instructions, None where an older document has none. `numbers` follows Measure, None where a number is not
    known. `model` is the cost model of the WCET, `warps` how many share the SM in the makespan, None where none was asked for.
    `launched` says whether the shape of a block was told: then a makespan was asked for, though the warps may not be known. `block` is
    how many threads it has, `grid` how many blocks on how many SMs, None where it is not told; `version` is that of the tool, '' likewise.
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

    @property
    def experiment(self) -> bool:
        """Say whether the numbers are those of an ablation or of the paper's experiment, which are no bounds."""
        return self.status == "experiment" or any(one.startswith(_EXPERIMENTS) for one in self.assumptions)

    def number(self, measure: Measure) -> int | None:
        """Return a number, None where it is not known."""
        return self.numbers[tuple(Measure).index(measure)]


def of(document: Mapping[str, object], name: str = "") -> Result:
    """Return what a document says of one function; `name` is the file that it stands in, for errors.

    Raises InputError `bad-results`.
    """
    fields = _Fields(name, document)
    wcet, makespan, strings = fields.table("wcet"), fields.table("makespan"), fields.table("strings")
    occupancy, grid = fields.table("occupancy"), fields.table("grid")
    blocks, sms = grid.whole("blocks"), grid.whole("sms")
    numbers: dict[Measure, int | None] = {
        Measure.WCET: wcet.whole("value"),
        Measure.MAKESPAN: makespan.whole("upper"),
        Measure.GRID: grid.whole("upper"),
        Measure.REGISTERS: fields.whole("registers"),
        Measure.INSTRUCTIONS: fields.whole("instructions"),
        Measure.BLOCKS: fields.whole("blocks"),
        Measure.DIVERGENT: fields.whole("divergent_branches"),
    }
    return Result(
        name=fields.needed("name"),
        arch=fields.needed("arch"),
        file=fields.text("file") or "",
        text=fields.text("text"),
        numbers=tuple(numbers[one] for one in Measure),
        model=wcet.text("model") or "",
        status=wcet.text("status") or "",
        warps=makespan.whole("warps"),
        string=strings.text("worst_path"),
        loops=tuple(_loop(one) for one in fields.tables("loops")),
        gaps=tuple(Gap(one.needed("code"), one.address("address"), one.text("message") or "") for one in fields.tables("gaps")),
        assumptions=tuple(dict.fromkeys((*wcet.texts("assumptions"), *makespan.texts("assumptions")))),
        launched=bool(occupancy.values),
        block=occupancy.whole("threads"),
        grid=(blocks, sms) if blocks is not None and sms is not None else None,
    )


def _loop(one: "_Fields") -> Loop:
    return Loop(one.needed("head"), tuple(one.texts("context")), one.whole("bound"), one.text("source") or "")


@dataclass(frozen=True, slots=True)
class Refused:
    """An input that was refused when the results were made."""

    file: str
    error: InputError


@dataclass(frozen=True, slots=True)
class Saved:
    """What a file of results holds."""

    results: tuple[Result, ...]
    refused: tuple[Refused, ...]


def is_results(path: str) -> bool:
    """Say whether a file, or standard input for `-`, holds JSON rather than code; whoever reads code says why one cannot be read."""
    try:
        if path == _STANDARD_INPUT:
            stream = sys.stdin.buffer
            start = stream.peek(256) if isinstance(stream, io.BufferedReader) else b""
        else:
            with Path(path).open("rb") as file:
                start = file.read(256)
    except (OSError, ValueError):
        return False
    return start.lstrip().startswith(b"{")


def load(path: str) -> Saved:
    """Return what a file of results, or standard input for `-`, holds: one JSON document, or lines that are documents or functions.

    Raises InputError `cannot-read` or `bad-results`.
    """
    try:
        text = (sys.stdin.buffer.read() if path == _STANDARD_INPUT else Path(path).read_bytes()).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("bad-results", f"{path}: not UTF-8 text", hint=_HINT) from None
    except (OSError, ValueError) as error:
        raise InputError("cannot-read", f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None
    found: list[Result] = []
    refused: list[Refused] = []
    version = ""
    for document in _documents(path, text):
        fields = _Fields(path, document)
        version = fields.table("tool").text("version") or version  # of lines, the first tells it
        found.extend(replace(of(one, path), version=version) for one in _functions(path, document))
        refused.extend(_refused(one) for one in _errors(fields))
    return Saved(tuple(found), tuple(refused))


def _documents(path: str, text: str) -> Iterator[Mapping[str, object]]:
    """Yield the one document of a file, or those of its lines."""
    first = text.lstrip().partition("\n")[0].strip()
    if len(first) > 1 and first.endswith("}") and "\n" in text.strip():
        for number, line in enumerate(text.split("\n"), 1):  # not splitlines: a name may hold U+2028
            if line.strip():
                yield _parsed(f"{path}:{number}", line)
    else:
        yield _parsed(path, text)


def _parsed(where: str, text: str) -> Mapping[str, object]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else "brackets inside each other without end"
        raise InputError("bad-results", f"{where}: not JSON: {why}", hint=_HINT) from None
    if not isinstance(found, dict):
        raise InputError("bad-results", f"{where}: must be an object", hint=_HINT)
    return cast("Mapping[str, object]", found)


def _functions(path: str, document: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the functions of one document; the line of a file that was refused, or that holds none, and the first of a batch have none."""
    if document.get("schema", SCHEMA) != SCHEMA:
        raise InputError("bad-results", f"{path}: schema {document['schema']!r} is not that of this version ({SCHEMA})", hint=_HINT)
    if "functions" in document:
        for one in _Fields(path, document).tables("functions"):
            yield one.values
    elif "wcet" in document:
        yield document
    elif not _line_without_function(_Fields(path, document)):
        raise InputError("bad-results", f"{path}: holds no results", hint=_HINT)


def _line_without_function(fields: "_Fields") -> bool:
    if fields.text("file") is not None:
        return bool(fields.table("error").values or fields.table("input").values)
    return bool(fields.table("batch").table("settings").values)


def _errors(fields: "_Fields") -> Iterator["_Fields"]:
    """Yield the refused inputs of one document: those of a list, or the one that a line of a batch stands for."""
    if "functions" in fields.values:
        yield from fields.tables("errors")
    elif "wcet" not in fields.values and "error" in fields.values:
        error = fields.table("error")
        yield _Fields(fields.name, {**error.values, "file": fields.text("file")}, error.where)


def _refused(one: "_Fields") -> Refused:
    error = InputError(one.needed("code"), one.text("message") or "no reason is told", hint=one.text("hint"))
    return Refused(one.text("file") or "", error)


class _Fields:
    """Checked access to one object of a document; what is absent is None."""

    def __init__(self, name: str, values: Mapping[str, object], where: str = "") -> None:
        self.name, self.values, self.where = name, values, where

    def _fail(self, key: str, expected: str) -> InputError:
        return InputError("bad-results", f"{self.name or 'results'}: {self.where}{key} must be {expected}", hint=_HINT)

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self._fail(key, "text")
        return value

    def needed(self, key: str) -> str:
        value = self.text(key)
        if value is None:
            raise self._fail(key, "text")
        return value

    def address(self, key: str) -> int:
        value = self.needed(key)
        if re.fullmatch(r"0x[0-9a-f]{1,16}", value, re.ASCII) is None:
            raise self._fail(key, "an address such as 0x0158")
        return int(value, 16)

    def whole(self, key: str) -> int | None:
        value = self.values.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise self._fail(key, "a whole number, 0 or more, or null")
        return value

    def table(self, key: str) -> "_Fields":
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self._fail(key, "an object or null")
        return _Fields(self.name, cast("Mapping[str, object]", value or {}), f"{self.where}{key}.")

    def _several(self, key: str) -> Sequence[object]:
        value = self.values.get(key)
        if value is not None and not isinstance(value, list):
            raise self._fail(key, "a list")
        return cast("Sequence[object]", value or [])

    def texts(self, key: str) -> tuple[str, ...]:
        found = self._several(key)
        if not all(isinstance(one, str) for one in found):
            raise self._fail(key, "a list of texts")
        return cast("tuple[str, ...]", tuple(found))

    def tables(self, key: str) -> tuple["_Fields", ...]:
        found = self._several(key)
        if not all(isinstance(one, dict) for one in found):
            raise self._fail(key, "a list of objects")
        rows = cast("Sequence[Mapping[str, object]]", found)
        return tuple(_Fields(self.name, one, f"{self.where}{key}[{index}].") for index, one in enumerate(rows))
