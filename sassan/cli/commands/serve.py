"""`sassan serve`: a local page that follows the files."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sassan.app.explorer import FileView, explored
from sassan.app.request import AnalysisRequest
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import failure
from sassan.cli.output.files import extension, save
from sassan.cli.output.progress import track
from sassan.cli.output.terminal import label, out
from sassan.errors import SassanError, UsageError
from sassan.executor import Processes, can_end_after, end_after
from sassan.fields.field import heads
from sassan.serve.folder import Folder, Stamps
from sassan.serve.server import PageServer
from sassan.serve.views import PageLineFields, Views

_POLL = 0.25
_PORT = 8417

FolderOrFile = Annotated[
    str, typer.Argument(metavar="DIR|FILE", help="A folder with cubins, listings, PTX or CUDA source, or one of these.")
]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port of the page; 0 takes a free one.")]
Export = Annotated[
    str | None,
    typer.Option(
        "--export",
        metavar="X.html|X.csv",
        help="Write the page, or its columns as a table, into a file, and serve nothing.",
        show_default=False,
    ),
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="S", min=0.001, max=1e6, help="Seconds of one file: what is not done by then is refused.")
]


@analysis
def serve(
    command: AnalysisCommand, path: FolderOrFile, *, port: Port = _PORT, export: Export = None, time_limit: TimeLimit = 600.0
) -> None:
    """Serve a page: source, PTX and machine code together.

    Only this machine is served. What changes in the folder is analyzed anew, and the page shows it. Beside every instruction stand its
    control code, its registers in use, its stalls (with --gpu) and how it accesses memory. A file that does not compile is named on the
    page, which keeps what it showed of it. Ctrl-C ends the server.

    \b
    Examples:
      sassan serve src/ --arch sm_90
      sassan serve kernels.cubin --gpu "RTX 3080" --block-dim 256
      sassan serve kernels.cu --arch sm_90 --export page.html
      sassan serve kernels.cu --arch sm_90 --export lines.csv
    """
    if not Path(path).exists():
        raise UsageError("missing-file", f"there is no file or folder '{path}'", hint="name what is to be shown")
    kind = extension(export, ("html", "htm", "csv")) if export is not None else ""
    folder, views = Folder(path), Views(Path(path).absolute().name, label)
    with Processes() as processes:
        analyze = partial(_views, processes, command, folder.path, time_limit)
        if export is None:
            _follow(folder, views, analyze, port)
            return
        for view in analyze(folder.shown(folder.stamps())):
            views.take(view)
    text = sheet.text(heads(PageLineFields), views.rows()) if kind == "csv" else views.page()
    save(export, text.encode(), quiet=command.observer.quiet)
    if views.status:
        raise typer.Exit(views.status)


def _follow(folder: Folder, views: Views, analyze: Callable[[Sequence[str]], Iterator[FileView]], port: int) -> None:
    """Serve the page, and make it anew when a file has changed, until an interrupt."""
    with PageServer(port) as server, suppress(KeyboardInterrupt):
        out(f"{server.url}\n")
        before: Stamps | None = None
        while True:
            now = _settled(folder)
            changed = folder.shown(now) if before is None else folder.changed(before, now)
            if changed or before is None or folder.shown(before) != folder.shown(now):
                server.working()
                views.keep(folder.shown(now))
                for view in analyze(changed):
                    views.take(view)
                version = str(time.time_ns())
                server.publish(views.page(version), version)
            before = now
            time.sleep(_POLL)


def _settled(folder: Folder) -> Stamps:
    """Return the stamps of the files, once nothing writes them any more."""
    now = folder.stamps()
    while True:
        time.sleep(_POLL / 5)
        before, now = now, folder.stamps()
        if before == now:
            return now


def _views(processes: Processes, command: AnalysisCommand, folder: str, seconds: float, files: Sequence[str]) -> Iterator[FileView]:
    """Yield the view of each file, and print its errors and what reading them assumes."""
    assumed: set[str] = set()
    requests = [replace(command.request, files=(file,)) for file in files]
    run = partial(_view, folder=folder, seconds=seconds)
    for view in track(processes.map(run, requests, lost=_lost), "analyzing", quiet=command.observer.quiet, total=len(files)):
        for error in view.errors:
            failure.show(error, view.file)
        for text in dict.fromkeys(view.assumed):
            if text not in assumed:
                command.observer.assumed(text)
        assumed.update(view.assumed)
        yield view


def _view(request: AnalysisRequest, *, folder: str, seconds: float) -> FileView:
    if not can_end_after():
        return explored(request, folder)
    end_after(seconds)
    try:
        return explored(request, folder)
    finally:
        end_after(None)


def _lost(request: AnalysisRequest, error: SassanError) -> FileView:
    return FileView(request.files[0], errors=(error,))
