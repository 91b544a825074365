"""Threads and processes of this machine.

Threads suit compiled kernels, which release the interpreter's lock: they start at once and share everything. Processes suit Python code.
New processes are spawned and never forked: a fork of a process that has threads (solvers and compiled kernels start some) may hang. An
interrupt of the terminal reaches every process of the group: workers ignore it, and the parent ends them.
"""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from sassan.errors import SelfCheckError
from sassan.executor.executor import In, Out

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.process import BaseProcess

_AHEAD = 2
"""Items that wait per worker: enough to keep it busy, and a long row of items is not read far ahead."""


def available() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


class Threads:
    """Run items on threads of this process."""

    def __init__(self, workers: int | None = None) -> None:
        """Take as many threads as there are processors, or as many as asked for."""
        self._workers = workers or available()

    @property
    def workers(self) -> int:
        """Return how many items run at the same time."""
        return self._workers

    def map(self, function: Callable[[In], Out], items: Iterable[In]) -> Iterator[Out]:
        """Yield the results in order; a thread cannot be stopped: an item that runs at an interrupt runs to its end."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - start-up

        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="sassan")
        try:
            yield from _ordered(lambda item: pool.submit(function, item), self._workers, items)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class Processes:
    """Run items in processes of their own."""

    def __init__(self, workers: int | None = None) -> None:
        """Take as many processes as there are processors, or as many as asked for."""
        self._workers = workers or available()

    @property
    def workers(self) -> int:
        """Return how many items run at the same time."""
        return self._workers

    def map(self, function: Callable[[In], Out], items: Iterable[In]) -> Iterator[Out]:
        """Yield the results in order; processes that still run at an error or an interrupt are ended.

        Raises SelfCheckError `worker-lost` when a process ends without a result (killed, or out of memory).
        """
        from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415 - start-up
        from multiprocessing import get_context  # noqa: PLC0415 - start-up

        pool = ProcessPoolExecutor(self._workers, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
        done = False
        try:
            yield from _ordered(lambda item: _submit(pool, function, item), self._workers, items)
            done = True
        except BrokenProcessPool as error:
            raise SelfCheckError(
                "worker-lost", "a worker process ended without a result", hint="it was killed, or out of memory"
            ) from error
        finally:
            if not done:
                _end(pool)  # and what waits is not cancelled: the pool sees that its processes are gone, and drops it itself
            pool.shutdown(wait=True)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _submit(pool: "ProcessPoolExecutor", function: Callable[[In], Out], item: In) -> "Future[Out]":
    """Hand an item over; a process that this starts is born with interrupts blocked, since one may come before it can ignore them."""
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(function, item)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(function, item)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(pool: "ProcessPoolExecutor") -> None:
    # The pool offers no way to end what runs before Python 3.14; its processes are this field since 3.2.
    processes: dict[int, BaseProcess] = getattr(pool, "_processes", None) or {}
    for one in list(processes.values()):
        one.terminate()


def _ordered(submit: "Callable[[In], Future[Out]]", workers: int, items: Iterable[In]) -> Iterator[Out]:
    """Yield results in order, with a bounded number of items under way."""
    source = iter(items)
    waiting = [submit(item) for item in islice(source, workers * _AHEAD)]
    while waiting:
        result = waiting.pop(0).result()
        waiting.extend(submit(item) for item in islice(source, 1))
        yield result
