"""Processes of this machine: they suit Python code.

New processes are spawned and never forked: a fork of a process that has threads (solvers and compiled kernels start some) may hang. An
interrupt of the terminal reaches every process of the group: workers ignore it, and the parent ends them.

One process has one item at a time, over a pipe of its own: so it is known which item ended a process, and no other is lost with it.
`concurrent.futures` gives up the whole pool, and does not say whose fault it was.
"""

import os
import pickle
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, Generic, Self

from sassan.errors import InputError, SassanError, SelfCheckError
from sassan.executor.executor import In, More, Out
from sassan.executor.order import Done, Ended, Failed, Lost, Order, worker_lost
from sassan.executor.processors import available

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from types import TracebackType

_TRIES = 3
"""Starts of an item whose process dies: who is killed by mistake, or for want of memory beside others, gets by with the second."""
_PATIENCE = 5.0
"""Seconds for a process to end by itself, or when told to."""
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Libraries read these when they are loaded: a worker has one processor, and so has whatever it calls."""
_ALARM = getattr(signal, "SIGALRM", None)


class Processes:
    """Run items in processes of their own; inside a `with` block the processes stay for the next run."""

    def __init__(self, workers: int | None = None) -> None:
        """Take as many processes as there are processors, or as many as asked for."""
        self._workers = workers or available()
        self._idle: list[_Worker] = []
        self._kept = False

    def __enter__(self) -> Self:
        """Keep processes from one run to the next."""
        self._kept = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None") -> None:
        """End the processes."""
        self._kept = False
        _end(self._idle)
        self._idle = []

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
        """Yield the results in order; processes that still run at an error or an interrupt are ended.

        The error of a lost item is SelfCheckError `worker-lost` (killed, or out of memory), or InputError `time-limit` where the system's
        alarm ended its process (`end_after`).
        """
        crew = _Crew(self._workers, function, self._idle)
        try:
            yield from Order(crew, items, lost).results()
        finally:
            crew.stop()
            if not self._kept:
                _end(self._idle)
                self._idle.clear()


def end_after(seconds: float | None) -> None:
    """Have the system end this process, whatever it does then, unless this is called again in time; None: never mind.

    For functions that run in a process of their own, and know how long is too long. Nothing in the process can overlook it: it is no
    exception that something catches, and holds in compiled code, too. Raises SelfCheckError where the system has no such alarm.
    """
    if _ALARM is None:
        raise SelfCheckError("no-alarm", "this system cannot end a process after a time")
    signal.setitimer(signal.ITIMER_REAL, seconds or 0.0)


@dataclass(eq=False, slots=True)
class _Worker:
    process: "BaseProcess"
    connection: "Connection[Any, Any]"
    ticket: int = field(default=0)


class _Crew(Generic[In, Out]):
    tries = _TRIES
    alone = False

    def __init__(self, workers: int, function: Callable[[In], Out | More[In, Out]], idle: list[_Worker]) -> None:
        self.places = workers
        self._function = function
        self._idle = idle
        self._busy: list[_Worker] = []

    def start(self, ticket: int, item: In) -> None:
        job = pickle.dumps((self._function, item))
        while True:
            worker = self._idle.pop() if self._idle else _new()
            try:
                worker.connection.send_bytes(job)
            except OSError:
                _end([worker])  # it died while it had nothing to do
                continue
            worker.ticket = ticket
            self._busy.append(worker)
            return

    def wait(self) -> list[tuple[int, Ended[Out | More[In, Out]]]]:
        from multiprocessing.connection import wait  # noqa: PLC0415 - start-up

        ready = wait([one for worker in self._busy for one in (worker.connection, worker.process.sentinel)])
        ended = [worker for worker in self._busy if worker.connection in ready or worker.process.sentinel in ready]
        return [(worker.ticket, self._ended(worker)) for worker in ended]

    def _ended(self, worker: _Worker) -> Ended[Out | More[In, Out]]:
        self._busy.remove(worker)
        try:
            # A process that ended may have said all the same what became of its item.
            found: Done[Out | More[In, Out]] | Failed = pickle.loads(worker.connection.recv_bytes())  # noqa: S301 - our own process wrote it
        except (EOFError, OSError):
            return _why(worker)
        self._idle.append(worker)
        return found

    def stop(self) -> None:
        """End what still runs."""
        for worker in self._busy:
            worker.process.terminate()
        _end(self._busy)
        self._busy = []


def _why(worker: _Worker) -> Lost:
    worker.process.join(_PATIENCE)
    code = worker.process.exitcode
    _end([worker])
    if _ALARM is not None and code == -_ALARM:
        return Lost(InputError("time-limit", "it took longer than the time limit", hint="give it more time: --time-limit"), final=True)
    return Lost(worker_lost(f"signal {-code}" if code is not None and code < 0 else f"status {code}"))


def _end(workers: list[_Worker]) -> None:
    """Let processes go: they end when nothing more can come, and are ended where they do not."""
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        worker.process.join(_PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.process.close()


def _new() -> _Worker:
    from multiprocessing import get_context  # noqa: PLC0415 - start-up

    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with _as_born():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _as_born() -> Generator[None]:
    """Hold what a new process inherits: one thread for each library, and interrupts blocked, since one may come before it ignores them."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    mask = _interrupts_blocked() if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _interrupts_blocked() -> set[int]:
    """Block interrupts in this thread and return what was blocked before."""
    # Its start, which the first process would bring about, lets interrupts through again: it is to run before.
    resource_tracker.ensure_running()
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _serve(connection: "Connection[Any, Any]") -> None:
    """Run the items that come, until nothing more can come: the life of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    with suppress(EOFError, OSError):  # the parent has gone, or has no more work
        while True:
            connection.send_bytes(_portable(_run(connection.recv_bytes())))


def _leave(number: int, frame: object) -> None:
    """End by an exception where the parent ends the process: temporary folders are removed on the way."""
    del frame
    raise SystemExit(128 + number)


def _run(job: bytes) -> Done[object] | Failed:
    try:
        function, item = pickle.loads(job)  # noqa: S301 - our own parent wrote it
        return Done(function(item))
    except Exception as error:  # noqa: BLE001 - the parent raises it
        return Failed(error)


def _portable(ended: Done[object] | Failed) -> bytes:
    """Return what the parent can read; an error that cannot be made again there is told in words."""
    try:
        data = pickle.dumps(ended)
        if isinstance(ended, Failed):
            pickle.loads(data)  # noqa: S301 - it was written the line before
    except Exception as problem:  # noqa: BLE001 - whatever an object's own code raises
        cause = ended.error if isinstance(ended, Failed) else problem
        return pickle.dumps(Failed(SelfCheckError("worker-failed", f"{type(cause).__name__}: {cause}")))
    return data
