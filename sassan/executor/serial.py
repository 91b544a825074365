"""One item after the other, in this thread: for tests and debugging."""

from collections.abc import Callable, Iterable, Iterator

from sassan.errors import SassanError
from sassan.executor.executor import In, More, Out, unfolded


class Serial:
    """Runs each item when its result is requested, in this thread."""

    @property
    def workers(self) -> int:
        """Return 1."""
        return 1

    def map(
        self,
        function: Callable[[In], Out | More[In, Out]],
        items: Iterable[In],
        *,
        lost: Callable[[In, SassanError], Out | More[In, Out]] | None = None,
    ) -> Iterator[Out]:
        """Yield the results in order."""
        del lost  # there are no workers to lose
        for item in items:
            waiting = [item]
            while waiting:
                parts: tuple[Out, tuple[In, ...]] = unfolded(function(waiting.pop()))
                result, children = parts
                waiting.extend(reversed(children))
                yield result
