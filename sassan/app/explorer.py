"""One input as the explorer shows it: records of a page, with the source and the PTX that the machine code was compiled from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sassan.app.inputs import RequestObserver, inherited, wanted
from sassan.app.makespan.page import PageSearch
from sassan.app.makespan.search import search
from sassan.app.page import code, records
from sassan.app.reading import compile_file
from sassan.app.request import AnalysisRequest
from sassan.app.sources import Sources
from sassan.compilers.source import is_source
from sassan.errors import SassanError
from sassan.executor import Serial
from sassan.frontend.ptx.source_map import PtxLine, functions_of
from sassan.ir import Function

_NO_SEARCH = PageSearch(None, 0.0, 0, search)
_UNOBSERVED = RequestObserver()


@dataclass(frozen=True, slots=True)
class FileView:
    """A file: records of its functions, lines of the sources that they name, what was refused, and what reading it assumes.

    The key `code` of a function is that of `page.code`.
    """

    file: str
    functions: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    errors: tuple[SassanError, ...] = ()
    assumed: tuple[str, ...] = ()


def explored(request: AnalysisRequest, folder: str) -> FileView:
    """Return the view of the only file of a request; sources are looked for beside it, then in `folder`.

    What is refused is part of the view; nothing is raised for it. A pattern may match nothing.
    """
    (file,) = request.files
    try:
        inputs = replace(request, patterns=()).inputs(partial=True)
        chosen = tuple(each for each in inputs.selected if wanted(each.function.name, request.patterns))
        results, inputs = request.results_of(replace(inputs, selected=chosen))
        shown = records(results, _UNOBSERVED, _NO_SEARCH, executor=Serial(), patterns=True)
        ptx = _ptx(file, request) if results else {}
    except SassanError as error:
        return FileView(file, errors=(error,))
    sources = Sources(str(Path(file).parent), folder)
    functions = tuple(
        {**record, "code": code(result, sources, [line for name in _names(result.function) for line in ptx.get(name, ())])}
        for record, result in zip(shown, results, strict=True)
    )
    # A recorded launch of a kernel in another file is not an error of this one.
    errors = tuple(each.error for each in inputs.refused if each.file == file)
    texts = {name: sources.lines(name) for function in functions for name in function["code"]["sources"]}
    return FileView(file, functions, texts, errors, inherited([each.function for each in chosen]))


def _ptx(file: str, request: AnalysisRequest) -> Mapping[str, tuple[PtxLine, ...]]:
    """Return the PTX by function: that of a compilation, or that beside a cubin, as Triton writes it."""
    if is_source(file):
        code = compile_file(file, request.compiled_for, cached=request.cached).ptx
        return functions_of(code.decode("utf-8", "replace"))
    beside = Path(file).with_suffix(".ptx")
    if str(beside) == file:
        return {}
    return functions_of("\n".join(Sources(str(beside.parent)).lines(beside.name)))


def _names(function: Function) -> list[str]:
    """Return the names of the kernel and of the device functions in its section."""
    return list(dict.fromkeys((function.name, *(name for _, name in function.symbols))))
