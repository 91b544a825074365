"""Results in the order of the items, whatever order they finish in: the common part of threads, processes and clusters.

Every item has a key: its number, followed by the numbers of its further items (`More`). Results are yielded in the order of keys. The item
with the smallest key starts first, and only so many results wait for an earlier one; the item that they wait for may always start.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, Protocol

from sassan.errors import SassanError, SelfCheckError
from sassan.executor.executor import In, More, Out, unfolded

_Key = tuple[int, ...]
_WINDOW = 16
"""Results per place of a pool that may wait for an earlier one."""
WORKER_LOST = "worker-lost"


@dataclass(frozen=True, slots=True)
class Done(Generic[Out]):
    """The result of an item."""

    result: Out


@dataclass(frozen=True, slots=True)
class Failed:
    """The function raised an error."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker of an item died; `error` gives the reason if known, `final` says that another try would fail, too."""

    error: SassanError
    final: bool = False


Ended = Done[Out] | Failed | Lost


class WorkerPool(Protocol[In, Out]):
    """Workers that run items: threads, processes, a cluster."""

    @property
    def places(self) -> int:
        """Return how many items it accepts at a time."""
        ...

    @property
    def tries(self) -> int:
        """Return how often an item whose workers die is started in total."""
        ...

    @property
    def alone(self) -> bool:
        """Say whether another item may be the cause of a lost item, which is therefore tried again alone."""
        ...

    def start(self, ticket: int, item: In) -> None:
        """Start an item; a place is free."""
        ...

    def wait(self) -> list[tuple[int, Ended[Out | More[In, Out]]]]:
        """Wait for at least one running item to end; return the ended items with their outcomes."""
        ...


def worker_lost(reason: str) -> SelfCheckError:
    """Return the error of an item whose worker ended without a result."""
    return SelfCheckError(WORKER_LOST, f"a worker process ended without a result: {reason}", hint="it was killed, or out of memory")


@dataclass(slots=True)
class _Task(Generic[In]):
    key: _Key
    item: In
    tries: int = 0
    lost: bool = False
    """Whether a worker died with it."""


class OrderedRun(Generic[In, Out]):
    """The run of a function over items on a pool of workers."""

    def __init__(
        self, pool: WorkerPool[In, Out], items: Iterable[In], lost: Callable[[In, SassanError], Out | More[In, Out]] | None
    ) -> None:
        """Prepare the run; `lost` makes the result of an item whose workers died."""
        self._pool = pool
        self._source = enumerate(items)
        self._more = True
        self._lost = lost
        self._tasks: dict[_Key, _Task[In]] = {}
        """The items that have not ended."""
        self._waiting: list[_Key] = []
        self._running: dict[int, _Key] = {}
        self._ended: list[tuple[_Key, int, Done[Out] | Failed]] = []
        self._ticket = 0

    def results(self) -> Iterator[Out]:
        """Yield the results in order; raises the first error in its place."""
        while True:
            self._fill()
            yield from self._ready()
            if not self._running:
                if not self._waiting and not self._more:
                    return
                continue
            for ticket, outcome in self._pool.wait():
                self._end(self._tasks[self._running.pop(ticket)], outcome)

    def _first_open(self) -> _Key | None:
        """Return the smallest key of the items that were read and have not ended."""
        keys = [*self._running.values(), *self._waiting[:1]]
        return min(keys, default=None)

    def _fill(self) -> None:
        """Start items while places are free, and read further items when none waits."""
        while len(self._running) < self._pool.places:
            if not self._waiting and not self._read():
                return
            if len(self._ended) >= _WINDOW * self._pool.places and self._waiting[0] != self._first_open():
                return
            if self._running and self._needs_isolation():
                return
            key = heappop(self._waiting)
            self._ticket += 1
            self._running[self._ticket] = key
            self._tasks[key].tries += 1
            self._pool.start(self._ticket, self._tasks[key].item)

    def _needs_isolation(self) -> bool:
        """Say whether a running item, or the next one, must run alone."""
        keys = [*self._running.values(), self._waiting[0]]
        return self._pool.alone and any(self._tasks[key].lost for key in keys)

    def _read(self) -> bool:
        numbered = next(self._source, None) if self._more else None
        if numbered is None:
            self._more = False
            return False
        self._add((numbered[0],), numbered[1])
        return True

    def _add(self, key: _Key, item: In) -> None:
        self._tasks[key] = _Task(key, item)
        heappush(self._waiting, key)

    def _ready(self) -> Iterator[Out]:
        first = self._first_open()
        while self._ended and (first is None or self._ended[0][0] < first):
            _, _, outcome = heappop(self._ended)
            if isinstance(outcome, Failed):
                raise outcome.error
            yield outcome.result

    def _end(self, task: _Task[In], outcome: Ended[Out | More[In, Out]]) -> None:
        if isinstance(outcome, Lost):
            if not outcome.final and task.tries < self._pool.tries:
                task.lost = True
                heappush(self._waiting, task.key)
                return
            outcome = Failed(outcome.error) if self._lost is None else Done(self._lost(task.item, outcome.error))
        del self._tasks[task.key]
        if isinstance(outcome, Failed):
            self._keep(task.key, outcome)
            return
        parts: tuple[Out, tuple[In, ...]] = unfolded(outcome.result)
        result, children = parts
        for number, item in enumerate(children):
            self._add((*task.key, number), item)
        self._keep(task.key, Done(result))

    def _keep(self, key: _Key, outcome: Done[Out] | Failed) -> None:
        heappush(self._ended, (key, 0, outcome))
