"""The contract of every executor."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


class Executor(Protocol):
    """Runs one function over many items; what the items and the results are, it does not know."""

    @property
    def workers(self) -> int:
        """Return how many items run at the same time at most."""
        ...

    def map(self, function: Callable[[In], Out], items: Iterable[In]) -> Iterator[Out]:
        """Yield `function(item)` for each item, in the order of the items, whatever order they finish in.

        The first error (in the order of the items) is raised in place of its result. After an error, an interrupt, or when the caller
        drops the iterator, no further item is started and nothing keeps running. A function and items for other processes are importable
        and can be pickled.
        """
        ...
