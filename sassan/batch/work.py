"""What a worker does: read files, analyze functions, say it in lines.

An item is several small files, or one file, or some functions of one. A file that holds much is read, and leaves the work on its functions
behind in portions, which other workers take; each reads the file for itself, and remembers the last one. An item whose worker died, or was
ended for its time, leaves behind smaller ones, down to a single function, which then becomes a line that says so.
"""

import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter

from sassan import frontend
from sassan.app.analysis import analyze
from sassan.app.analysis_fields import AnalysisFields
from sassan.app.estimate_fields import LaunchFields, TimedLaunch
from sassan.app.inputs import check_settings, wanted
from sassan.app.launches import analyze_launches
from sassan.app.reading import read_program
from sassan.app.request import AnalysisRequest
from sassan.batch.inputs import Input
from sassan.batch.job import Job
from sassan.batch.lines import LineOutcome, PlaceFields, ResultPosition, line, nothing, outcome, refusal
from sassan.compilers.source import is_source
from sassan.errors import InputError, SassanError, SelfCheckError
from sassan.executor import More, end_after
from sassan.fields.field import Value, document
from sassan.frontend.load import LIMIT
from sassan.ir import Function
from sassan.launches import Launches
from sassan.system.reading import read

PORTION = 3000
"""Instructions of the functions of a portion, about: a second or so, so that workers stay busy and a file is not read too often."""


@dataclass(frozen=True, slots=True)
class Item:
    """Some inputs, or the functions `start` up to `stop` of one (None: to its end), of those that are asked for.

    `digest` is what the content was when somebody read it. `apart` asks for no analysis: every function is to be an item of its own.
    `name` and `arch` are those of a single function.
    """

    inputs: tuple[Input, ...]
    start: int = 0
    stop: int | None = None
    digest: str | None = None
    functions: int | None = None
    apart: bool = False
    name: str = ""
    arch: str = ""


@dataclass(frozen=True, slots=True)
class ResultChunk:
    """Results: lines, what the summary wants to know of each, and how many inputs end with them."""

    lines: bytes = b""
    outcomes: tuple[LineOutcome, ...] = ()
    ended: int = 0


Result = ResultChunk | More[Item, ResultChunk]


def work(job: Job, item: Item) -> Result:
    """Return the lines of an item, or of its beginning with the items that are left."""
    parts: list[ResultChunk] = []
    for number, source in enumerate(item.inputs):
        result = _file(job, replace(item, inputs=(source,)))
        if isinstance(result, More):
            rest = item.inputs[number + 1 :]
            left = (*result.items, replace(item, inputs=rest)) if rest else result.items
            return More(_joined([*parts, result.first]), left)
        parts.append(result)
    return _joined(parts)


def lost(item: Item, error: SassanError) -> Result:
    """Return what stands for an item that ended its worker: smaller items, or the line that says so."""
    if len(item.inputs) > 1:
        return More(ResultChunk(), tuple(replace(item, inputs=(source,)) for source in item.inputs))
    if not item.apart and not item.name:
        return More(ResultChunk(), (replace(item, apart=True),))
    file = next(iter(item.inputs)).file
    if item.stop is None:
        place = ResultPosition(file, item.digest, item.start or None)
        return _part([(refusal(place, error), None)], ended=1)
    places = [ResultPosition(file, item.digest, number, item.functions) for number in range(item.start, item.stop)]
    return _part([(refusal(place, error, item.name, item.arch), None) for place in places], ended=int(places[-1].done))


def content_of(path: str) -> bytes | None:
    """Return what a file holds, at most a byte more than may be read; None where it cannot be read."""
    try:
        return read(path, LIMIT)
    except (OSError, ValueError):
        return None


def digest_of(data: bytes | None) -> str | None:
    """Return the SHA-256 of what a file holds, None where that is not known, or too much."""
    return None if data is None or len(data) > LIMIT else hashlib.sha256(data).hexdigest()


def _joined(parts: list[ResultChunk]) -> ResultChunk:
    if len(parts) == 1:
        return parts[0]
    return ResultChunk(
        b"".join(part.lines for part in parts),
        tuple(outcome for part in parts for outcome in part.outcomes),
        sum(part.ended for part in parts),
    )


def _part(documents: Sequence[tuple[Mapping[str, Value], float | None]], ended: int) -> ResultChunk:
    outcomes = (outcome(document, seconds) for document, seconds in documents)
    return ResultChunk(
        b"".join(line(document) for document, _ in documents), tuple(known for known in outcomes if known is not None), ended
    )


def _file(job: Job, item: Item) -> Result:
    source = item.inputs[0]
    data = content_of(source.path) if source.error is None else None
    digest = digest_of(data)
    try:
        functions = _chosen(job, source, data)
        if item.digest not in (None, digest):
            raise InputError("file-changed", f"'{source.file}' has changed since it was read first", hint="start again with --overwrite")
    except SassanError as error:
        return lost(replace(item, digest=item.digest or digest, apart=True), error)
    if not functions:
        return _part([(nothing(ResultPosition(source.file, digest, functions=0)), None)], ended=1)
    whole = replace(item, stop=len(functions) if item.stop is None else item.stop, digest=digest, functions=len(functions))
    if item.apart:
        return More(ResultChunk(), tuple(_single(whole, number, functions) for number in _range(whole)))
    portions = tuple(_portions(whole, functions))
    if item.stop is None and len(portions) > 1:
        return More(ResultChunk(), portions)
    analyzed = [_analyzed(job, ResultPosition(source.file, digest, number, len(functions)), functions[number]) for number in _range(whole)]
    return _part(analyzed, ended=int(whole.stop == whole.functions))


def _range(item: Item) -> range:
    return range(item.start, item.stop or item.start)


def _chosen(job: Job, source: Input, data: bytes | None) -> tuple[Function, ...]:
    """Return the functions of a file that are asked for; raises SassanError."""
    if source.error is not None:
        raise source.error
    with _defects():
        request = job.request
        functions = _functions(source, data, request.arch, request.cached, request.compiled_for) if data is not None else _none(source)
    return tuple(function for function in functions if wanted(function.name, job.request.patterns))


def _none(source: Input) -> tuple[Function, ...]:
    """Say why a file cannot be read; raises InputError."""
    try:
        frontend.load(source.path)
    except InputError as error:
        raise InputError(error.code, error.message.replace(source.path, source.file), hint=error.hint) from None
    raise InputError("unreadable", f"'{source.file}' cannot be read")


@lru_cache(maxsize=1)
def _functions(source: Input, data: bytes, arch: str | None, cached: bool, target: str | None) -> tuple[Function, ...]:
    """Return the functions of a file; the last one is remembered, because portions of one file come in a row."""
    if is_source(source.path):
        return read_program(source.path, arch, cached=cached, target=target).functions
    return frontend.read(frontend.content(source.file, data), arch=arch, cached=cached).functions


def _single(item: Item, number: int, functions: tuple[Function, ...]) -> Item:
    function = functions[number]
    return replace(item, start=number, stop=number + 1, apart=False, name=function.name, arch=function.arch)


def _portions(item: Item, functions: tuple[Function, ...]) -> Iterator[Item]:
    """Yield items of whole functions with about as many instructions each."""
    start, held = item.start, 0
    for number in _range(item):
        held += len(functions[number].instructions)
        if held >= PORTION or number + 1 == item.stop:
            yield replace(item, start=start, stop=number + 1)
            start, held = number + 1, 0


def _analyzed(job: Job, place: ResultPosition, function: Function) -> tuple[Mapping[str, Value], float]:
    """Return the line of a function, and how many seconds it took."""
    begin = perf_counter()
    if job.seconds is not None:
        end_after(job.seconds)
    try:
        with _defects():
            document = _document(job.request, place, function)
    except SassanError as error:
        document = refusal(place, error, function.name, function.arch)
    finally:
        if job.seconds is not None:
            end_after(None)
    return document, perf_counter() - begin


def _document(request: AnalysisRequest, place: ResultPosition, function: Function) -> Mapping[str, Value]:
    settings = request.settings
    # Facts and parameters serve a whole batch: what they say of other functions is not an error here.
    known = tuple(
        value for value in settings.launch.parameters if function.kernel and settings.launch.place_of(function, value) is not None
    )
    check_settings(replace(settings, launch=replace(settings.launch, parameters=known)), (function,), (function,), partial=True)
    launched = {} if request.recording is None else {"launches": _launches(request, request.recording, place, function)}
    return {**document(AnalysisFields, analyze(function, settings, place.file)), **launched, "input": document(PlaceFields, place)}


def _launches(request: AnalysisRequest, recording: Launches, place: ResultPosition, function: Function) -> list[Value]:
    """Return what is known of the recorded launches of a function: none where it is not the code that was launched."""
    launches = tuple(
        launch for launch in recording.launches if launch.kernel == function.name and function.image in ("", launch.code or function.image)
    )
    results = analyze_launches([(place.file, function)], replace(recording, launches=launches), request.settings)
    return [document(LaunchFields, TimedLaunch(result)) for result in results]


@contextmanager
def _defects() -> Generator[None]:
    """Make one error of whatever a defect raises: one bad file never stops the rest; raises SelfCheckError `internal`."""
    try:
        yield
    except SassanError:
        raise
    except MemoryError:
        hint = "raise --memory-limit, or use fewer processes (-j)"
        raise InputError("memory-limit", "more memory is needed than the limit", hint=hint) from None
    except Exception as error:
        hint = "this is a defect of sassan: report it with the input"
        raise SelfCheckError("internal", f"{type(error).__name__}: {error}", hint=hint) from error
