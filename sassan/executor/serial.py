"""One item after the other, here: what tests and debuggers want."""

from collections.abc import Callable, Iterable, Iterator

from sassan.executor.executor import In, Out


class Serial:
    """Run each item when its result is asked for, in this process."""

    @property
    def workers(self) -> int:
        """Return 1."""
        return 1

    def map(self, function: Callable[[In], Out], items: Iterable[In]) -> Iterator[Out]:
        """Yield the results in order."""
        return (function(item) for item in items)
