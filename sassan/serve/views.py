"""The views of all files, the last good one of each, and the page of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sassan.app import documents
from sassan.app.explorer import FileView
from sassan.app.sources import base
from sassan.fields.field import Declare, Field, Record, document
from sassan.fields.kinds import TEXT
from sassan.render.html.page import Page, html


def _column(name: str, text: str) -> Field[Mapping[str, Any], str | None]:
    return Declare[Mapping[str, Any]]()(TEXT, text, lambda line: line.get(name), key=None, csv=name)


class PageLineFields(Record[Mapping[str, Any]]):
    """A line of a column of the page, in CSV; of a source or of PTX what comes behind its place is empty, save the text."""

    file = _column("file", "the file, as it was named")
    name = _column("name", "name of the function, empty of a source")
    column = _column("column", "`source`, `ptx` or `sass`")
    place = _column("place", "the source line that it is or was made from, as `name:line`")
    address = _column("address", "of the instruction, in hexadecimal digits")
    stall = _column("stall", "cycles before the next instruction")
    hint = _column("hint", "`Y`: another warp may run")
    write = _column("write", "the barrier that is set until the result is written")
    read = _column("read", "the barrier that is set until the sources are read")
    waits = _column("waits", "barriers waited for")
    reuse = _column("reuse", "source slots kept in the operand cache")
    unit = _column("unit", "the functional unit that executes it")
    letter = _column("letter", "of kernel strings")
    text = _column("text", "the line, or the instruction")
    transactions = _column("transactions", "of a warp, and the fewest that the same bytes need")
    pattern = _column("pattern", "how the addresses of the lanes lie to each other")
    live = _column("live", "general registers in use")


class Views:
    """What is known of every file: where the newest content of one is refused, its functions are those of its last good view."""

    def __init__(self, title: str, spell: Callable[[str], str]) -> None:
        """Take the title of the page, and how names of functions are shown."""
        self._title, self._spell = title, spell
        self._views: dict[str, FileView] = {}

    def take(self, view: FileView) -> None:
        """Take a new view of a file."""
        old = self._views.get(view.file)
        if view.errors and not view.functions and old is not None:
            view = replace(view, functions=old.functions, sources=old.sources)
        self._views[view.file] = view

    def keep(self, files: Iterable[str]) -> None:
        """Forget all files but these."""
        kept = set(files)
        self._views = {file: view for file, view in self._views.items() if file in kept}

    @property
    def status(self) -> int:
        """The exit status that the refused files call for, 0 where all were read."""
        return max((error.status for view in self._views.values() for error in view.errors), default=0)

    def page(self, version: str | None = None) -> str:
        """Return the page, in the order of the names of the files; one with a `version` asks its server for newer ones."""
        views = [self._views[file] for file in sorted(self._views)]
        functions = [function for view in views for function in view.functions]
        sources = {f"{view.file}:{name}": lines for view in views for name, lines in view.sources.items()}
        refused = [{"file": view.file, **document(documents.ErrorFields, error)} for view in views for error in view.errors]
        return html(Page(self._title, documents.tool(), functions, refused, sources, version, self._spell))

    def rows(self) -> Iterator[Mapping[str, object]]:
        """Yield the lines of all columns of the page: those of the sources of a file, then the PTX and the machine code of each function.

        `place` links the columns. Tabs are expanded.
        """
        for file in sorted(self._views):
            view = self._views[file]
            for name, lines in view.sources.items():
                yield from (
                    {"file": file, "column": "source", "place": f"{name}:{at}", "text": text.expandtabs()}
                    for at, text in enumerate(lines, 1)
                )
            for function in view.functions:
                head = {"file": file, "name": function["name"]}
                yield from ({**head, "column": "ptx", "place": place, "text": text.expandtabs()} for text, place in function["code"]["ptx"])
                for row in function["graph"]["rows"]:
                    yield {**head, "column": "sass", "place": base(row["source"] or ""), **(row["control"] or {}), **row}
