"""Results as the records of a page: the documents of `analyze`, with graph, schedule, registers and estimate."""

from collections.abc import Iterator, Mapping
from typing import Any

from sassan.access import Access
from sassan.app import documents
from sassan.app.estimating import estimated
from sassan.app.inputs import Observer
from sassan.app.makespan.page import PageSearch, searched
from sassan.app.memory import memory_of
from sassan.app.registers import registers_of_result, sentences
from sassan.app.result import AnalysisResult
from sassan.app.views import page_sketch
from sassan.executor import Executor
from sassan.render.html.layout import place
from sassan.render.html.sketch import GraphRecord


def records(  # noqa: PLR0913 - what a page may show of a result
    results: tuple[AnalysisResult, ...],
    observer: Observer,
    how: PageSearch,
    measured: Mapping[str, list[object]] | None = None,
    executor: Executor | None = None,
    *,
    patterns: bool = False,
) -> list[Mapping[str, Any]]:
    """Return the record of each result; `measured` are recorded launches by function, and graphs are laid out by the `executor`.

    `patterns`: accesses of memory are listed where nothing of a launch is given, too.
    Raises MissingToolError without pygraphviz, KeyboardInterrupt.
    """
    graphs = _graphs(results, observer, executor, patterns=patterns)
    searches = [searched(result, how) for result in observer.steps(results, "scheduling")]
    return [
        {
            **documents.analysis(result),
            "graph": graph,
            "search": search,
            "measured": (measured or {}).get(result.function.name, []),
            "registers_in_use": _registers(result),
            "estimate": _estimate(result),
        }
        for result, graph, search in zip(results, graphs, searches, strict=True)
    ]


def _estimate(result: AnalysisResult) -> Mapping[str, Any] | None:
    """Return the estimate of the launch of a kernel, None where no GPU or no launch is given, or where it has gaps."""
    known = estimated(result).estimate if result.settings.gpu is not None and result.function.kernel else None
    return documents.estimate(known) if known is not None else None


def _registers(result: AnalysisResult) -> list[str]:
    known = registers_of_result(result)
    return list(sentences(known)) if known is not None else []


def _graphs(results: tuple[AnalysisResult, ...], observer: Observer, executor: Executor | None, *, patterns: bool) -> Iterator[GraphRecord]:
    sketches = [page_sketch(result, _accesses(result) if patterns else None) for result in results]
    places = place([sketch.text for sketch in sketches], executor)
    for sketch, placed in zip(observer.steps(sketches, "laying out"), places, strict=True):
        yield sketch.record(placed)


def _accesses(result: AnalysisResult) -> list[Access]:
    return [row.access for row in memory_of(result).rows]
