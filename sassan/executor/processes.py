"""Processes of this machine, for Python code.

New processes are spawned and never forked: a fork of a process that has threads (solvers and compiled kernels start some) may hang. An
interrupt of the terminal reaches every process of the group: workers ignore it, and the parent ends them.

A process runs one item at a time, received over its own pipe: so the item that ended a process is known, and no other is lost with it.
`concurrent.futures` gives up the whole pool, and does not name the item.
"""

import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Generic, Self

from sassan.collector import collect_rarely
from sassan.entries import CacheWarning
from sassan.errors import InputError, SassanError, SelfCheckError
from sassan.executor.executor import In, More, Out
from sassan.executor.order import Done, Ended, Failed, Lost, OrderedRun, worker_lost
from sassan.executor.processors import available
from sassan.scratch import sweep_scratch

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from types import TracebackType

_TRIES = 3
"""Starts of an item whose process dies: an item that was killed by mistake, or for lack of memory beside others, succeeds later."""
_GRACE_SECONDS = 5.0
"""Seconds for processes to end by themselves, or after a request."""
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Libraries read these when they are loaded: a worker and the libraries in it use one processor."""
_ALARM = getattr(signal, "SIGALRM", None)


class Processes:
    """Runs items in separate processes; inside a `with` block the processes are kept for the next run."""

    def __init__(self, workers: int | None = None) -> None:
        """Use this many processes, by default as many as there are processors."""
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

        The error of a lost item is SelfCheckError `worker-lost` (killed, or out of memory), or InputError `time-limit` if the system's
        alarm ended its process (`end_after`).
        """
        pool = _ProcessPool(self._workers, function, self._idle)
        try:
            yield from OrderedRun(pool, items, lost).results()
        finally:
            pool.stop()
            if not self._kept:
                _end(self._idle)
                self._idle.clear()


def can_end_after() -> bool:
    """Say whether the system can end a process after a time limit."""
    return _ALARM is not None


def end_after(seconds: float | None) -> None:
    """Let the system end this process after `seconds`, unless this is called again in time; None cancels it.

    For functions in worker processes that know their time limit. Unlike an exception it cannot be caught, and it works in compiled code.
    Raises SelfCheckError `no-alarm` where the system has no such alarm.
    """
    if _ALARM is None:
        raise SelfCheckError("no-alarm", "this system cannot end a process after a time limit")
    signal.setitimer(signal.ITIMER_REAL, seconds or 0.0)


@dataclass(eq=False, slots=True)
class _Worker:
    process: "BaseProcess"
    connection: "Connection[Any, Any]"
    ticket: int = field(default=0)


class _ProcessPool(Generic[In, Out]):
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
                _end([worker])  # it died while idle
                continue
            worker.ticket = ticket
            self._busy.append(worker)
            return

    def wait(self) -> list[tuple[int, Ended[Out | More[In, Out]]]]:
        from multiprocessing.connection import wait  # noqa: PLC0415 - start-up

        ready = wait([handle for worker in self._busy for handle in (worker.connection, worker.process.sentinel)])
        ended = [worker for worker in self._busy if worker.connection in ready or worker.process.sentinel in ready]
        return [(worker.ticket, self._ended(worker)) for worker in ended]

    def _ended(self, worker: _Worker) -> Ended[Out | More[In, Out]]:
        self._busy.remove(worker)
        try:
            # A process that ended may have sent its outcome before.
            outcome: Done[Out | More[In, Out]] | Failed = pickle.loads(worker.connection.recv_bytes())  # noqa: S301 - written by our process
        except (EOFError, OSError):
            return _lost_reason(worker)
        self._idle.append(worker)
        return outcome

    def stop(self) -> None:
        """End the running processes."""
        for worker in self._busy:
            worker.process.terminate()
        _end(self._busy)
        self._busy = []


def _lost_reason(worker: _Worker) -> Lost:
    worker.process.join(_GRACE_SECONDS)
    code = worker.process.exitcode
    _end([worker])
    if _ALARM is not None and code == -_ALARM:
        return Lost(InputError("time-limit", "it took longer than the time limit", hint="raise the limit with --time-limit"), final=True)
    return Lost(worker_lost(f"signal {-code}" if code is not None and code < 0 else f"status {code}"))


def _end(workers: list[_Worker]) -> None:
    """Close the connections, at which the processes end; kill those that do not."""
    for worker in workers:
        worker.connection.close()
    end, killed = monotonic() + _GRACE_SECONDS, False
    for worker in workers:
        worker.process.join(max(end - monotonic(), 0.0))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
            killed = True
        worker.process.close()
    if killed:
        sweep_scratch()


def _new() -> _Worker:
    from multiprocessing import get_context  # noqa: PLC0415 - start-up

    context = get_context("spawn")
    own_end, child_end = context.Pipe()
    process = context.Process(target=_serve, args=(child_end,), daemon=True)
    with _inherited_settings():
        process.start()
    child_end.close()
    return _Worker(process, own_end)


@contextmanager
def _inherited_settings() -> Generator[None]:
    """Set what a new process inherits: one thread per library, and blocked interrupts, which could arrive before it ignores them."""
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
    # Starting it, which the first process would cause, unblocks interrupts again: so it is started before.
    resource_tracker.ensure_running()
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _serve(connection: "Connection[Any, Any]") -> None:
    """Run the items received over the connection until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit)
    sys.unraisablehook = _exit_at_once
    Thread(target=_end_with_parent, daemon=True).start()
    collect_rarely()  # as the command line does
    warnings.simplefilter("ignore", CacheWarning)  # said once, by whoever starts workers, not by each
    with suppress(EOFError, OSError):  # the parent ended, or has no more work
        while True:
            connection.send_bytes(_portable(_run(connection.recv_bytes())))
    # Nothing of this process is left to do, and ending the interpreter with all that it has loaded takes most of a second.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _end_with_parent() -> None:
    """End this process, in the middle of an item too, when its parent was killed."""
    from multiprocessing.process import parent_process  # noqa: PLC0415 - only here

    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        # The signal waits for the main thread, which may be in compiled code for long.
        sleep(_GRACE_SECONDS)
        os._exit(128 + signal.SIGTERM)


def _exit(number: int, frame: object) -> None:
    """End the process with an exception, so that temporary folders are removed."""
    del frame
    raise SystemExit(128 + number)


def _exit_at_once(ignored: "sys.UnraisableHookArgs") -> None:
    """End the process where the exception of `_exit` came amid what drops all exceptions, as the end of a weak reference does."""
    if isinstance(ignored.exc_value, SystemExit):
        os._exit(ignored.exc_value.code if isinstance(ignored.exc_value.code, int) else 1)
    sys.__unraisablehook__(ignored)


def _run(job: bytes) -> Done[object] | Failed:
    try:
        function, item = pickle.loads(job)  # noqa: S301 - written by our parent
        return Done(function(item))
    except Exception as error:  # noqa: BLE001 - the parent raises it
        return Failed(error)


def _portable(ended: Done[object] | Failed) -> bytes:
    """Return the pickled outcome; an error that cannot be unpickled is replaced by one with its text."""
    try:
        data = pickle.dumps(ended)
        if isinstance(ended, Failed):
            pickle.loads(data)  # noqa: S301 - written on the line before
    except Exception as problem:  # noqa: BLE001 - the code of any object runs
        cause = ended.error if isinstance(ended, Failed) else problem
        return pickle.dumps(Failed(SelfCheckError("worker-failed", f"{type(cause).__name__}: {cause}")))
    return data
