"""Results as the records of a page: the documents of `analyze`, with graph, schedule, registers and estimate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sassan.access import Access
from sassan.app.analysis_fields import AnalysisFields
from sassan.app.estimate_fields import EstimateFields
from sassan.app.estimating import estimated
from sassan.app.inputs import RequestObserver
from sassan.app.makespan.cycles import with_schedule
from sassan.app.makespan.page import PageSearch, searched
from sassan.app.memory import memory_of
from sassan.app.registers import registers_of_result, sentences
from sassan.app.result import AnalysisResult
from sassan.app.sources import Sources, base
from sassan.app.views import page_sketch
from sassan.compilers.source import is_source
from sassan.executor import Executor
from sassan.fields.field import document
from sassan.frontend.ptx.source_map import PtxLine
from sassan.render.html.layout import place
from sassan.render.html.sketch import GraphRecord
from sassan.timing import Quantity

_MOST = 200_000
"""Instructions of all warps up to which a report makes a schedule in cycles: some tenths of a second."""


def records(  # noqa: PLR0913 - what a page may show of a result
    results: tuple[AnalysisResult, ...],
    observer: RequestObserver,
    how: PageSearch,
    measured: Mapping[str, list[object]] | None = None,
    executor: Executor | None = None,
    *,
    patterns: bool = False,
    launches: Sequence[str] = (),
) -> list[Mapping[str, Any]]:
    """Return the record of each result; `measured` are recorded launches by function, and graphs are laid out by the `executor`.

    `patterns`: accesses of memory are listed where nothing of a launch is given, too.
    `launches`: the name of the launch of each result, where several may be of one kernel.
    Raises MissingToolError without pygraphviz, KeyboardInterrupt.
    """
    results = tuple(result if result.quantity is Quantity.INSTRUCTIONS else with_schedule(result, _MOST) for result in results)
    graphs = _graphs(results, observer, executor, patterns=patterns)
    searches = [searched(result, how) for result in observer.steps(results, "scheduling")]
    return [
        {
            **document(AnalysisFields, result),
            "graph": graph,
            "search": search,
            "measured": (measured or {}).get(result.function.name, []),
            "registers_in_use": _registers(result),
            "estimate": _estimate(result),
            "launch": launch,
        }
        for result, graph, search, launch in zip(results, graphs, searches, launches or ("",) * len(results), strict=True)
    ]


def code(result: AnalysisResult, sources: Sources, ptx: Sequence[PtxLine] = ()) -> dict[str, Any]:
    """Return the key `code` of a function: `ptx`, lines as [text, place], and `sources`, the names of those of its sources that are there.

    A place is `name:line`, '' for an unknown one; names have no folders, since compilers write folders in different ways.
    """
    places = (result.file, *(line.file for line in result.function.lines), *(line.file for line in ptx))
    files = dict.fromkeys(base(file) for file in places)
    return {
        "ptx": [[line.text, f"{base(line.file)}:{line.line}" if line.file else ""] for line in ptx],
        "sources": [name for name in files if (name != base(result.file) or is_source(name)) and sources.lines(name)],
    }


def with_sources(
    shown: Sequence[Mapping[str, Any]], results: Sequence[AnalysisResult]
) -> tuple[list[Mapping[str, Any]], Mapping[str, Sequence[str]]]:
    """Return the records of results, with `code` where a source lies beside the file of the input, and the lines of these sources."""
    functions: list[Mapping[str, Any]] = []
    texts: dict[str, Sequence[str]] = {}
    folders: dict[Path, Sources] = {}
    for record, result in zip(shown, results, strict=True):
        folder = Path(result.file).parent
        sources = folders.setdefault(folder, Sources(str(folder))) if result.function.lines and folder.is_dir() else Sources()
        known = code(result, sources)
        functions.append({**record, "code": known} if known["sources"] else record)
        texts |= {f"{result.file}:{name}": sources.lines(name) for name in known["sources"]}
    return functions, texts


def _estimate(result: AnalysisResult) -> Mapping[str, Any] | None:
    """Return the estimate of the launch of a kernel, None where no GPU or no launch is given, or where it has gaps."""
    known = estimated(result).estimate if result.settings.gpu is not None and result.function.kernel else None
    return {**document(EstimateFields, known), "timeline": asdict(known.timeline)} if known is not None else None


def _registers(result: AnalysisResult) -> list[str]:
    known = registers_of_result(result)
    return list(sentences(known)) if known is not None else []


def _graphs(
    results: tuple[AnalysisResult, ...], observer: RequestObserver, executor: Executor | None, *, patterns: bool
) -> Iterator[GraphRecord]:
    sketches = [page_sketch(result, _accesses(result) if patterns else None) for result in results]
    places = place([sketch.text for sketch in sketches], executor)
    for sketch, placed in zip(observer.steps(sketches, "laying out"), places, strict=True):
        yield sketch.record(placed)


def _accesses(result: AnalysisResult) -> list[Access]:
    return [row.access for row in memory_of(result).rows]
