"""A cluster of Dask workers (extra `dask`): the same contract, on many machines.

A worker imports the same files of sassan, and its input files must be readable there. The cluster itself restarts an item whose worker
died, up to `distributed.scheduler.allowed-failures` times (3), and then raises KilledWorker.

Who may speak to a scheduler may run code on its workers, and on the machine of whoever asks it: certificates say who that is. What is sent
names a function of what is installed there, and never holds code; each worker compares its version before it runs an item.
"""

import logging
import pickle
import sys
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Self

from sassan.errors import MissingToolError, SassanError, SelfCheckError, UsageError
from sassan.executor.executor import In, More, Out
from sassan.executor.order import Done, Ended, Failed, Lost, OrderedRun, worker_lost
from sassan.extras import install

if TYPE_CHECKING:
    from types import TracebackType

_CONNECT = 5.0
"""Seconds for the scheduler and the workers to answer, and for a first worker to appear."""
_WITHOUT_WORKERS = 60.0
"""Seconds without any worker, or without the scheduler, after which a run gives up."""
_POLL = 1.0
_LOGGERS = ("distributed", "distributed.client", "distributed.core", "distributed.utils", "distributed.comm")
"""Loggers of this process; each has its own level."""
_KILLED_EVERY = "every worker that ran the item died"
_AHEAD = 2
"""Items per thread of the cluster, so that the next is ready when one ends."""
_HINT = "start a scheduler with: dask scheduler; and on each machine: dask worker ADDRESS --nthreads 1"


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in PEM format for an address `tls://…`; what is None comes from the configuration of Dask.

    `authority` signed the certificates of the cluster, `own` is the certificate of this client, whose `key` may be in the same file.
    """

    authority: str | None = None
    own: str | None = None
    key: str | None = None


class Dask:
    """Runs items on the workers of a cluster; use it in a `with` block, or close it."""

    def __init__(self, address: str, certificates: Certificates | None = None) -> None:
        """Connect to the scheduler at `address` (`tcp://host:8786`, `tls://host:8786`).

        Raises MissingToolError `dask-missing` without the extra; UsageError `scheduler` when no scheduler answers within seconds, or it has
        no workers; `certificates` when files of TLS are missing, or are no such files; `cluster-version` when a worker has no sassan, or
        another version.
        """
        distributed = _load()
        self._address = address
        security = _security(address, certificates or Certificates())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about other versions of Dask on the workers: the versions that matter are checked below
            try:
                _probe(address, security)
                self._client = distributed.Client(address, security=security, timeout=_CONNECT, set_as_default=False, name="sassan")
            except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
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
        """Leave the cluster, which keeps running."""
        self._client.close(timeout=_CONNECT)

    @property
    def workers(self) -> int:
        """Return how many items run at the same time: the current number of threads of all workers."""
        return max(1, sum(_threads(self._client).values()))

    def map(
        self,
        function: Callable[[In], Out | More[In, Out]],
        items: Iterable[In],
        *,
        lost: Callable[[In, SassanError], Out | More[In, Out]] | None = None,
    ) -> Iterator[Out]:
        """Yield the results in order.

        The function is one that can be imported by its name, on the workers too. Raises SelfCheckError `cluster-lost` when the scheduler or
        all workers are gone; `worker-lost` as processes do; UsageError `cluster-version` when a worker has joined that has another version.
        """
        pool = _ClusterPool(self._client, self.workers * _AHEAD, function)
        try:
            yield from OrderedRun(pool, items, lost).results()
        finally:
            pool.stop()

    def _check(self) -> None:
        """Refuse a cluster whose versions differ."""
        distributed = _load()
        try:
            self._client.wait_for_workers(1, timeout=_CONNECT)
        except (TimeoutError, OSError):
            raise UsageError("scheduler", f"the Dask scheduler at '{self._address}' has no workers", hint=_HINT) from None
        expected = version()
        try:
            # Not as an item, which would wait behind those of others.
            versions: dict[str, object] = self._client.run(version, on_error="return", callback_timeout=_CONNECT)
        except (OSError, distributed.comm.CommClosedError) as error:
            reason = f"not every worker did within {_CONNECT:g} s" if isinstance(error, TimeoutError) else _short(str(error))
            raise UsageError("scheduler", f"the cluster at '{self._address}' does not answer: {reason}", hint=_HINT) from None
        for worker, answer in sorted(versions.items()):
            if answer != expected:
                reason = f"{type(answer).__name__}: {answer}" if isinstance(answer, BaseException) else f"it has {answer}"
                raise _other_version(f"the worker {worker}", expected, reason)


def _threads(client: Any) -> dict[str, int]:  # noqa: ANN401 - distributed has no types
    """Return the threads of each worker, none where the scheduler does not answer."""
    try:
        threads: dict[str, int] = client.nthreads(callback_timeout=_CONNECT)
    except OSError:  # also of time
        return {}
    return threads


def _other_version(worker: str, expected: str, reason: str) -> UsageError:
    message = f"{worker} cannot run {expected}: {_short(reason)}"
    return UsageError("cluster-version", message, hint="install the same versions on every worker")


def _security(address: str, certificates: Certificates) -> Any:  # noqa: ANN401 - distributed has no types
    """Return what a connection needs; raises UsageError `certificates`."""
    given = {"tls_ca_file": certificates.authority, "tls_client_cert": certificates.own, "tls_client_key": certificates.key}
    used = {name: file for name, file in given.items() if file is not None}
    encrypted = address.startswith("tls://")
    if used and not encrypted:
        raise UsageError(
            "certificates", f"'{address}' is not encrypted: certificates have no effect", hint="pass --scheduler tls://HOST:PORT"
        )
    for file in used.values():
        if not Path(file).is_file():
            raise UsageError("certificates", f"there is no file '{file}'", hint="name a file in PEM format")
    security = _load().Security(require_encryption=encrypted or None, **used)
    if encrypted and not (security.tls_ca_file and security.tls_client_cert):
        hint = "pass --tls-ca-file and --tls-cert, or set them in the configuration of Dask"
        raise UsageError("certificates", f"'{address}' needs the certificate of an authority and one of this client", hint=hint)
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:
        raise UsageError(
            "certificates", f"the certificates cannot be used: {_short(str(error))}", hint="name files in PEM format"
        ) from None
    return security


def _probe(address: str, security: Any) -> None:  # noqa: ANN401 - distributed has no types
    """Raise the error of a scheduler that does not answer: a client without a connection is slow to close."""
    import asyncio  # noqa: PLC0415 - start-up
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - start-up

    async def knock() -> None:
        comm = await _load().comm.connect(address, timeout=_CONNECT, **security.get_connection_args("client"))
        await comm.close()

    with ThreadPoolExecutor(1) as pool:  # the caller may run an event loop, as notebooks do
        pool.submit(lambda: asyncio.run(knock())).result()


def version() -> str:
    """Return the versions that must be equal everywhere, with a hash of the files of sassan: results and pickles depend on them."""
    from sassan import __version__  # noqa: PLC0415 - called in another process

    return f"sassan {__version__} ({_files()}) on Python {sys.version_info.major}.{sys.version_info.minor}"


@cache
def _files() -> str:
    """Return a hash of the code and the tables of this installation."""
    root = Path(__file__).resolve().parent.parent
    digest = sha256()
    for path in sorted(path for pattern in ("**/*.py", "**/*.toml") for path in root.glob(pattern)):
        digest.update(f"{path.relative_to(root)}\0".encode() + sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def run_there(expected: str, job: bytes) -> object:
    """Run an item, on a worker of the expected version: one that joined the cluster after it was asked may have another."""
    here = version()
    if here != expected:
        raise _other_version("a worker that joined", expected, f"it has {here}")
    function, item = pickle.loads(job)  # noqa: S301 - from the cluster, as every item is
    return function(item)


def _load() -> Any:  # noqa: ANN401 - distributed has no types
    try:
        import distributed  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise MissingToolError("dask-missing", "dask.distributed is not installed", hint=install("dask")) from error
    # It logs every connection that ends; relevant problems are raised as errors.
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed


def _short(text: str) -> str:
    return " ".join(text.split())[:200]


class _ClusterPool(Generic[In, Out]):
    tries = 2
    """The cluster itself tries again, but blames an item for what another did to their common worker: so it is tried once more, alone."""
    alone = True

    def __init__(self, client: Any, places: int, function: Callable[[In], Out | More[In, Out]]) -> None:  # noqa: ANN401
        self.places = places
        self._client = client
        self._function = function
        self._run = uuid.uuid4().hex[:12]
        self._version = version()
        self._futures: dict[int, Any] = {}
        self._ended: SimpleQueue[int] = SimpleQueue()

    def start(self, ticket: int, item: In) -> None:
        # Increasing keys keep the scheduler's order equal to that of the items.
        job = pickle.dumps((self._function, item))  # by name: Dask itself would send the code of a function that cannot be imported
        key = f"sassan-{self._run}-{ticket:09d}"
        future = self._client.submit(run_there, self._version, job, key=key, pure=False, priority=-ticket)
        self._futures[ticket] = future
        self._await(ticket)

    def _await(self, ticket: int) -> None:
        self._futures[ticket].add_done_callback(partial(self._put, ticket))

    def _put(self, ticket: int, future: object) -> None:
        del future  # it is in `_futures`
        self._ended.put(ticket)

    def wait(self) -> list[tuple[int, Ended[Out | More[In, Out]]]]:
        while True:
            ticket = self._next()
            outcome = self._outcome(self._futures[ticket])
            if outcome is not None:
                del self._futures[ticket]
                return [(ticket, outcome)]
            self._await(ticket)

    def _next(self) -> int:
        without_since: float | None = None
        while True:
            try:
                return self._ended.get(timeout=_POLL)
            except Empty:
                has_workers = self._client.status == "running" and bool(_threads(self._client))
                without_since = None if has_workers else without_since or monotonic()
                if without_since is not None and monotonic() - without_since > _WITHOUT_WORKERS:
                    raise _cluster_lost("it has no workers left") from None

    def _outcome(self, future: Any) -> Ended[Out | More[In, Out]] | None:  # noqa: ANN401
        """Return how an item ended; None if its result was lost with its worker, and it runs again."""
        distributed = _load()
        match future.status:
            case "finished":
                try:
                    return Done(future.result(timeout=_WITHOUT_WORKERS))
                except distributed.scheduler.KilledWorker:
                    return Lost(worker_lost(_KILLED_EVERY))
                except (distributed.CancelledError, TimeoutError) as error:
                    raise _cluster_lost(_short(str(error))) from None
            case "error":
                try:
                    raised: BaseException = future.exception(timeout=_WITHOUT_WORKERS)
                except (distributed.CancelledError, TimeoutError) as error:
                    raise _cluster_lost(_short(str(error))) from None
                return Lost(worker_lost(_KILLED_EVERY)) if isinstance(raised, distributed.scheduler.KilledWorker) else Failed(raised)
            case "pending" | "lost":
                return None
            case status:
                raise _cluster_lost(f"an item is {status}")

    def stop(self) -> None:
        """Cancel the running items."""
        if self._futures and self._client.status == "running":
            self._client.cancel(list(self._futures.values()))
        self._futures.clear()


def _cluster_lost(reason: str) -> SelfCheckError:
    return SelfCheckError("cluster-lost", f"the cluster is lost: {reason}", hint="written results are kept; continue with --resume")
