"""The contract of every executor."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from sassan.errors import SassanError

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class More(Generic[In, Out]):
    """What a function returns that leaves work behind: the results of `items` follow `first` at once, before those of later items."""

    first: Out
    items: tuple[In, ...]


def unfolded(result: Out | More[In, Out]) -> tuple[Out, tuple[In, ...]]:
    """Return a result, and the items that it leaves behind."""
    if not isinstance(result, More):
        return result, ()
    more = cast("More[In, Out]", result)
    return more.first, more.items


class Executor(Protocol):
    """Runs one function over many items; what the items and the results are, it does not know."""

    @property
    def workers(self) -> int:
        """Return how many items run at the same time at most."""
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

        An item whose worker dies runs again, a few times; when it has ended its worker each time, the error is raised, or, where `lost` is
        given, `lost(item, error)` stands for the result. Where items share the caller's process there is nobody to lose.
        """
        ...
