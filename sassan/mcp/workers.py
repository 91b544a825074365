"""The processes that calls run in: each call in one of its own, which is ended where it exceeds its limits."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from sassan.errors import SassanError
from sassan.executor import Processes
from sassan.mcp.calls import ToolAnswer, ToolCall
from sassan.mcp.work import lost, warm_up, work


class CallWorkers:
    """So many processes, kept from call to call inside a `with` block; a call waits for one that is free, in a thread of its caller."""

    def __init__(self, count: int) -> None:
        """Take the number of processes."""
        self._count = count
        self._free: SimpleQueue[Processes] = SimpleQueue()
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        """Begin; processes load what calls need while the first client connects."""
        starting = self._ending.enter_context(ThreadPoolExecutor(self._count))
        for _ in range(self._count):
            processes = self._ending.enter_context(Processes(1))
            starting.submit(self._warmed, processes)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the processes."""
        self._ending.close()

    def answer(self, call: ToolCall) -> ToolAnswer:
        """Return the answer to a call."""
        processes = self._free.get()
        try:
            return _one(processes, work, call)
        finally:
            self._free.put(processes)

    def _warmed(self, processes: Processes) -> None:
        try:
            list(processes.map(warm_up, [None], lost=_without))
        finally:
            self._free.put(processes)


def _without(nothing: None, error: SassanError) -> None:
    """Go on without what a process could not load: a call that needs it says why."""
    del nothing, error


def _one(processes: Processes, function: Callable[[ToolCall], ToolAnswer], call: ToolCall) -> ToolAnswer:
    (answer,) = processes.map(function, [call], lost=lost)
    return answer
