"""Threads of this process, for compiled kernels, which release the interpreter's lock; they start at once and share memory."""

from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic

from sassan.errors import SassanError
from sassan.executor.executor import In, More, Out
from sassan.executor.order import Done, Ended, Failed, OrderedRun
from sassan.executor.processors import available

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_AHEAD = 2
"""Items per thread: enough to keep it busy without reading far ahead."""


class Threads:
    """Runs items on threads of this process."""

    def __init__(self, workers: int | None = None) -> None:
        """Use this many threads, by default as many as there are processors."""
        self._workers = workers or available()

    @property
    def workers(self) -> int:
        """Return how many items run at the same time."""
        return self._workers

    def map(
        self,
        function: Callable[[In], Out | More[In, Out]],
        items: Iterable[In],
        *,
        lost: Callable[[In, SassanError], Out | More[In, Out]] | None = None,
    ) -> Iterator[Out]:
        """Yield the results in order; a thread cannot be stopped: an item that runs at an interrupt runs to its end."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - start-up

        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="sassan")
        try:
            yield from OrderedRun(_ThreadPool(pool, self._workers, function), items, lost).results()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _ThreadPool(Generic[In, Out]):
    tries = 1
    alone = False

    def __init__(self, pool: "ThreadPoolExecutor", workers: int, function: Callable[[In], Out | More[In, Out]]) -> None:
        self._pool, self._function = pool, function
        self._ended: SimpleQueue[tuple[int, Future[Out | More[In, Out]]]] = SimpleQueue()
        self.places = workers * _AHEAD

    def start(self, ticket: int, item: In) -> None:
        self._pool.submit(self._function, item).add_done_callback(lambda future: self._ended.put((ticket, future)))

    def wait(self) -> list[tuple[int, Ended[Out | More[In, Out]]]]:
        ticket, future = self._ended.get()
        error = future.exception()
        return [(ticket, Done(future.result()) if error is None else Failed(error))]
