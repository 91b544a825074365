"""The order of the items, whatever order they finish in: what threads, processes and clusters share.

Every item has a key: its number, and below it the numbers of what it left behind (`More`). Keys sort as results are yielded. What is
smallest starts first, and only so many results wait for an earlier one; the item that they all wait for may always start.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, Protocol

from sassan.errors import SassanError, SelfCheckError
from sassan.executor.executor import In, More, Out, unfolded

_Key = tuple[int, ...]
_WINDOW = 16
"""Results per place of a crew that may wait for an earlier one."""
WORKER_LOST = "worker-lost"


@dataclass(frozen=True, slots=True)
class Done(Generic[Out]):
    """An item has its result."""

    result: Out


@dataclass(frozen=True, slots=True)
class Failed:
    """The function raised an error."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker of an item died, and why as far as it is known; `final` says that another try would end alike."""

    error: SassanError
    final: bool = False


Ended = Done[Out] | Failed | Lost


class Crew(Protocol[In, Out]):
    """Who runs the items: threads, processes, a cluster."""

    @property
    def places(self) -> int:
        """Return how many items it takes at a time."""
        ...

    @property
    def tries(self) -> int:
        """Return how often an item whose worker died is started in all."""
        ...

    @property
    def alone(self) -> bool:
        """Return whether an item may be lost by another's fault, and is to be tried again with nothing beside it."""
        ...

    def start(self, ticket: int, item: In) -> None:
        """Have an item run; there is a place."""
        ...

    def wait(self) -> list[tuple[int, Ended[Out | More[In, Out]]]]:
        """Return which of the items that run have ended, and how; wait for one."""
        ...


def worker_lost(how: str) -> SelfCheckError:
    """Return the error of an item whose worker ended without a result."""
    return SelfCheckError(WORKER_LOST, f"a worker process ended without a result: {how}", hint="it was killed, or out of memory")


@dataclass(slots=True)
class _Task(Generic[In]):
    key: _Key
    item: In
    tries: int = 0
    lost: bool = False
    """Whether its worker died once."""


class Order(Generic[In, Out]):
    """One run of a crew over some items."""

    def __init__(self, crew: Crew[In, Out], items: Iterable[In], lost: Callable[[In, SassanError], Out | More[In, Out]] | None) -> None:
        """Take who runs, what, and what stands for an item that is lost."""
        self._crew = crew
        self._source = enumerate(items)
        self._more = True
        self._lost = lost
        self._tasks: dict[_Key, _Task[In]] = {}
        """All that have not ended."""
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
            for ticket, how in self._crew.wait():
                self._end(self._tasks[self._running.pop(ticket)], how)

    def _first_open(self) -> _Key | None:
        """Return the key of the first item that has not ended, of those that were read."""
        keys = [*self._running.values(), *self._waiting[:1]]
        return min(keys, default=None)

    def _fill(self) -> None:
        """Start what there is place for, and read further items where no other waits."""
        while len(self._running) < self._crew.places:
            if not self._waiting and not self._read():
                return
            if len(self._ended) >= _WINDOW * self._crew.places and self._waiting[0] != self._first_open():
                return
            if self._running and self._apart():
                return
            key = heappop(self._waiting)
            self._ticket += 1
            self._running[self._ticket] = key
            self._tasks[key].tries += 1
            self._crew.start(self._ticket, self._tasks[key].item)

    def _apart(self) -> bool:
        """Say whether what runs, or what would start now, is to have nothing beside it."""
        keys = [*self._running.values(), self._waiting[0]]
        return self._crew.alone and any(self._tasks[key].lost for key in keys)

    def _read(self) -> bool:
        found = next(self._source, None) if self._more else None
        if found is None:
            self._more = False
            return False
        self._add((found[0],), found[1])
        return True

    def _add(self, key: _Key, item: In) -> None:
        self._tasks[key] = _Task(key, item)
        heappush(self._waiting, key)

    def _ready(self) -> Iterator[Out]:
        first = self._first_open()
        while self._ended and (first is None or self._ended[0][0] < first):
            _, _, how = heappop(self._ended)
            if isinstance(how, Failed):
                raise how.error
            yield how.result

    def _end(self, task: _Task[In], how: Ended[Out | More[In, Out]]) -> None:
        if isinstance(how, Lost):
            if not how.final and task.tries < self._crew.tries:
                task.lost = True
                heappush(self._waiting, task.key)
                return
            how = Failed(how.error) if self._lost is None else Done(self._lost(task.item, how.error))
        del self._tasks[task.key]
        if isinstance(how, Failed):
            self._keep(task.key, how)
            return
        found: tuple[Out, tuple[In, ...]] = unfolded(how.result)
        result, left = found
        for number, item in enumerate(left):
            self._add((*task.key, number), item)
        self._keep(task.key, Done(result))

    def _keep(self, key: _Key, how: Done[Out] | Failed) -> None:
        heappush(self._ended, (key, 0, how))
