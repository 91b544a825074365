"""Searches that a person may watch and interrupt."""

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from sassan.app.makespan.instances import MakespanInstance
from sassan.app.makespan.search import InstanceResult, search
from sassan.cli.output.terminal import is_terminal
from sassan.jit import clock
from sassan.makespan.engine import Engine
from sassan.makespan.merge import Merged


@dataclass(slots=True)
class Interrupts:
    """Counts what the user sent: the first interrupt asks the engines to end, the second ends the command."""

    seen: bool = field(default=False)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Take one signal."""
        del number, frame
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True


@contextmanager
def interrupts() -> Generator[Interrupts]:
    """Turn the first interrupt into a question that engines ask, while the block runs."""
    watch = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield watch
        return
    before = signal.signal(signal.SIGINT, watch.handle)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, before)


def watched_search(
    instance: MakespanInstance, engine: Engine, *, seconds: float, seed: int, quiet: bool, watch: Callable[[Merged], None] | None = None
) -> InstanceResult:
    """What an engine finds in the time given, where a person may watch and interrupt it; `watch` sees each result, too.

    Raises UsageError `too-large` when the engine does not take the instance.
    """
    with interrupts() as pressed, _progress(quiet=quiet) as show:

        def changed(now: Merged) -> None:
            show(progress_text(instance.name, now))
            if watch is not None:
                watch(now)

        return search(instance, engine, seconds=seconds, seed=seed, stop=lambda: pressed.seen, watch=changed)


def progress_text(name: str, now: Merged) -> str:
    """Return the line that a person watches: the interval so far, and which engine spoke last."""
    lower = "?" if now.lower is None else str(now.lower)
    upper = "?" if now.upper is None else str(now.upper)
    gap = "" if now.gap is None else f", gap {100 * now.gap:.1f} %"
    engine = next(reversed(now.last), "")
    short = name if len(name) <= 40 else name[:39] + "…"  # noqa: PLR2004 - one line of a terminal
    return f"{short}: makespan in [{lower}, {upper}]{gap} ({engine})"


@contextmanager
def _progress(*, quiet: bool) -> Generator[Callable[[str], None]]:
    if quiet or not is_terminal(sys.stderr):
        yield lambda _: None
        return

    class Compiling(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            del task
            return Text("compiling, once after an installation" if clock.compiling() else "")

    text = TextColumn("{task.description}", markup=False)
    with Progress(SpinnerColumn(), text, Compiling(), TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("makespan", total=None)
        yield lambda now: bar.update(task, description=now)
