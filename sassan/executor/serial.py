"""One item after the other, here: what tests and debuggers want."""

from collections.abc import Callable, Iterable, Iterator

from sassan.errors import SassanError
from sassan.executor.executor import In, More, Out, unfolded


class Serial:
    """Run each item when its result is asked for, in this process."""

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
        del lost  # nobody can be lost here
        for item in items:
            waiting = [item]
            while waiting:
                found: tuple[Out, tuple[In, ...]] = unfolded(function(waiting.pop()))
                result, left = found
                waiting.extend(reversed(left))
                yield result
