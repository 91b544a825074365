"""The contract of every executor."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from sassan.errors import SassanError

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class More(Generic[In, Out]):
    """A result with further items: their results follow `first` immediately, before those of later items."""

    first: Out
    items: tuple[In, ...]


def unfolded(result: Out | More[In, Out]) -> tuple[Out, tuple[In, ...]]:
    """Return a result and its further items."""
    if not isinstance(result, More):
        return result, ()
    more = cast("More[In, Out]", result)
    return more.first, more.items


class Executor(Protocol):
    """Runs a function over many items, whatever the items and the results are."""

    @property
    def workers(self) -> int:
        """Return the largest number of items that run at the same time."""
        ...

    def map(
        self,
        function: Callable[[In], Out | More[In, Out]],
        items: Iterable[In],
        *,
        lost: Callable[[In, SassanError], Out | More[In, Out]] | None = None,
    ) -> Iterator[Out]:
        """Yield `function(item)` for each item, in the order of the items, whatever order they finish in.

        The first error (in the order of the items) is raised in place of its result. After an error, an interrupt, or when the caller
        drops the iterator, no further item is started and nothing keeps running. A function and items for other processes are importable
        and can be pickled. Few items are read ahead, and few results wait for an earlier one.

        An item whose worker dies runs again, a few times; if every worker died, the error is raised, or, with `lost`, `lost(item, error)`
        is the result. Executors that share the caller's process lose no workers.
        """
        ...
