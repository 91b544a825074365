"""A cluster of Dask workers (extra `dask`): the same contract, on many machines.

A worker imports sassan, of the same version, and what it reads must be where it can read it. The cluster itself starts an item again whose
worker died, as often as its configuration says (`distributed.scheduler.allowed-failures`, 3), and then says KilledWorker.
"""

import logging
import sys
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Self

from sassan.errors import MissingToolError, SassanError, SelfCheckError, UsageError
from sassan.executor.executor import In, More, Out
from sassan.executor.order import Done, Ended, Failed, Lost, Order, worker_lost
from sassan.extras import install

if TYPE_CHECKING:
    from types import TracebackType

_CONNECT = 5.0
"""Seconds for the scheduler to answer, and for a first worker to be there."""
_ALONE = 60.0
"""Seconds without any worker, or without the scheduler, after which nothing more is waited for."""
_LOOK = 1.0
_LOUD = ("distributed", "distributed.client", "distributed.core", "distributed.utils", "distributed.comm")
"""Loggers of what runs in this process; each has a level of its own."""
_EVERY = "it ended every worker that tried"
_AHEAD = 2
"""Items per thread of the cluster: the next is there when one ends."""
_HINT = "start one with: dask scheduler; and on each machine: dask worker ADDRESS --nthreads 1"


class Dask:
    """Run items on the workers of a cluster; to be used in a `with` block, or closed."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler at `address` (`tcp://host:8786`).

        Raises MissingToolError `dask-missing` without the extra; UsageError `scheduler` when nobody answers there in a few seconds, or has
        no workers; `cluster-version` when a worker has no sassan, or another version.
        """
        distributed = _load()
        self._address = address
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other versions of Dask on the workers: what counts is checked below
            try:
                _knock(address)
                self._client = distributed.Client(address, timeout=_CONNECT, set_as_default=False, name="sassan")
            except (OSError, TimeoutError, ValueError, TypeError) as error:
                reason = str(error) or type(error).__name__
                raise UsageError("scheduler", f"no Dask scheduler answers at '{address}': {_short(reason)}", hint=_HINT) from None
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Return the executor."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None") -> None:
        """Leave the cluster."""
        self.close()

    def close(self) -> None:
        """Leave the cluster; it goes on without us."""
        self._client.close(timeout=_CONNECT)

    @property
    def workers(self) -> int:
        """Return how many items run at the same time: the threads of all workers, as many as there are now."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def map(
        self,
        function: Callable[[In], Out | More[In, Out]],
        items: Iterable[In],
        *,
        lost: Callable[[In, SassanError], Out | More[In, Out]] | None = None,
    ) -> Iterator[Out]:
        """Yield the results in order.

        Raises SelfCheckError `cluster-lost` when the scheduler has gone, or has no workers any more; `worker-lost` as processes do.
        """
        crew = _Crew(self._client, self.workers * _AHEAD, function)
        try:
            yield from Order(crew, items, lost).results()
        finally:
            crew.stop()

    def _check(self) -> None:
        """Refuse a cluster that would not do the same work."""
        distributed = _load()
        try:
            self._client.wait_for_workers(1, timeout=_CONNECT)
        except (TimeoutError, OSError):
            raise UsageError("scheduler", f"the Dask scheduler at '{self._address}' has no workers", hint=_HINT) from None
        mine = _version()
        try:
            found: dict[str, object] = self._client.run(_version, on_error="return")
        except (OSError, distributed.comm.CommClosedError) as error:
            raise UsageError("scheduler", f"the cluster at '{self._address}' does not answer: {_short(str(error))}", hint=_HINT) from None
        for worker, version in sorted(found.items()):
            if version != mine:
                said = f"{type(version).__name__}: {version}" if isinstance(version, BaseException) else f"it has {version}"
                raise UsageError(
                    "cluster-version", f"the worker {worker} cannot run {mine}: {_short(said)}", hint="install the same on every worker"
                )


def _knock(address: str) -> None:
    """Raise the error of a scheduler that does not answer: a client that has never met one takes long to close."""
    import asyncio  # noqa: PLC0415 - start-up
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - start-up

    async def knock() -> None:
        comm = await _load().comm.connect(address, timeout=_CONNECT)
        await comm.close()

    with ThreadPoolExecutor(1) as pool:  # the caller may have a loop of its own, as notebooks do
        pool.submit(lambda: asyncio.run(knock())).result()


def _version() -> str:
    """Return what has to be alike everywhere: results depend on it, and pickles do."""
    from sassan import __version__  # noqa: PLC0415 - asked of another process

    return f"sassan {__version__} on Python {sys.version_info.major}.{sys.version_info.minor}"


def _load() -> Any:  # noqa: ANN401 - distributed has no types
    try:
        import distributed  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise MissingToolError("dask-missing", "dask.distributed is not installed", hint=install("dask")) from error
    # It tells of every connection that ends; what matters comes as an error.
    for name in _LOUD:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed


def _short(text: str) -> str:
    return " ".join(text.split())[:200]


class _Crew(Generic[In, Out]):
    tries = 2
    """The cluster itself tries again, and counts against an item what another did to the worker that both were on: so once more, alone."""
    alone = True

    def __init__(self, client: Any, places: int, function: Callable[[In], Out | More[In, Out]]) -> None:  # noqa: ANN401
        self.places = places
        self._client = client
        self._function = function
        self._run = uuid.uuid4().hex[:12]
        self._futures: dict[int, Any] = {}
        self._ended: SimpleQueue[int] = SimpleQueue()

    def start(self, ticket: int, item: In) -> None:
        # A key that grows keeps the scheduler's own order that of the items.
        future = self._client.submit(self._function, item, key=f"sassan-{self._run}-{ticket:09d}", pure=False, priority=-ticket)
        self._futures[ticket] = future
        self._await(ticket)

    def _await(self, ticket: int) -> None:
        self._futures[ticket].add_done_callback(partial(self._put, ticket))

    def _put(self, ticket: int, future: object) -> None:
        del future  # it is kept already
        self._ended.put(ticket)

    def wait(self) -> list[tuple[int, Ended[Out | More[In, Out]]]]:
        while True:
            ticket = self._next()
            how = self._how(self._futures[ticket])
            if how is not None:
                del self._futures[ticket]
                return [(ticket, how)]
            self._await(ticket)

    def _next(self) -> int:
        alone_since: float | None = None
        while True:
            try:
                return self._ended.get(timeout=_LOOK)
            except Empty:
                there = self._client.status == "running" and bool(self._client.nthreads())
                alone_since = None if there else alone_since or monotonic()
                if alone_since is not None and monotonic() - alone_since > _ALONE:
                    raise _gone("it has no workers any more") from None

    def _how(self, future: Any) -> Ended[Out | More[In, Out]] | None:  # noqa: ANN401
        """Return how an item ended; None where its result went with the worker that held it, and it runs again."""
        distributed = _load()
        match future.status:
            case "finished":
                try:
                    return Done(future.result(timeout=_ALONE))
                except distributed.scheduler.KilledWorker:
                    return Lost(worker_lost(_EVERY))
                except (distributed.CancelledError, TimeoutError) as error:
                    raise _gone(_short(str(error))) from None
            case "error":
                raised: BaseException = future.exception()
                return Lost(worker_lost(_EVERY)) if isinstance(raised, distributed.scheduler.KilledWorker) else Failed(raised)
            case "pending" | "lost":
                return None
            case other:
                raise _gone(f"an item is {other}")

    def stop(self) -> None:
        """Have the cluster forget what still runs."""
        if self._futures and self._client.status == "running":
            self._client.cancel(list(self._futures.values()))
        self._futures.clear()


def _gone(why: str) -> SelfCheckError:
    return SelfCheckError("cluster-lost", f"the cluster has gone: {why}", hint="what is written stays: go on with --resume")
