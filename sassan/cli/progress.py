"""A progress bar on standard error, where a person reads it and there is something to wait for."""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

from sassan.cli.terminal import is_terminal

_Item = TypeVar("_Item")


def track(items: Sequence[_Item], what: str, *, quiet: bool) -> Iterator[_Item]:
    """Yield the items in order, showing how many are done."""
    if quiet or len(items) <= 1 or not is_terminal(sys.stderr):
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    yield from bar(items, description=what, console=Console(stderr=True), transient=True)
