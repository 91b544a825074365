"""A progress bar on standard error, where a person reads it and there is something to wait for."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from sassan.cli.output.terminal import is_terminal

_Item = TypeVar("_Item")


def track(items: Iterable[_Item], description: str, *, quiet: bool, total: int | None = None) -> Iterator[_Item]:
    """Yield the items in order, showing how many are done; `total` says how many there are, where they are made one by one."""
    if total is None:
        items = tuple(items)
        total = len(items)
    if quiet or total <= 1 or not is_terminal(sys.stderr):
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 - for a terminal only
    from rich.progress import track as bar  # noqa: PLC0415 - for a terminal only

    yield from bar(items, description=description, total=total, console=Console(stderr=True), transient=True)
