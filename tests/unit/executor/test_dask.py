"""A cluster of two workers keeps the contract of every executor."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from budget import PATIENCE, whole
from sassan.errors import InputError, MissingToolError, UsageError
from sassan.executor import Dask, More, Serial, dask
from sassan.extras import install
from sassan.makespan.anneal.engine import CHAINS, Anneal
from sassan.makespan.anneal.plain import AnnealingPlan, Move
from sassan.makespan.engine import Budget
from unit.makespan.cases import case

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
dask_config = pytest.importorskip("dask.config")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    # Each worker that dies is started anew, which takes a second or two: here a second death is enough to give an item up.
    patient = dask_config.set({"distributed.scheduler.allowed-failures": 0})
    with patient, distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as made:
        yield made.scheduler_address


@pytest.fixture(scope="module")
def executor(cluster: str) -> Iterator[Dask]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask, "_CONNECT", PATIENCE)  # a busy machine
        yield from _executor(cluster)


def _executor(cluster: str) -> Iterator[Dask]:
    with Dask(cluster) as made:
        yield made


def slow_first(number: int) -> int:
    time.sleep(0.2 if number == 0 else 0)
    return number


def refuse_three(number: int) -> int:
    if number == 3:
        raise InputError("three", "no threes", hint="two")
    return number


def halves(number: int) -> int | More[int, int]:
    return More(number, (number // 2, number - number // 2)) if number > 1 else number


def die_of_three(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number


def test_a_cluster_has_as_many_workers_as_threads(executor: Dask):
    assert executor.workers == 2


def test_results_come_in_the_order_of_the_items(executor: Dask):
    assert list(executor.map(slow_first, range(9))) == [0, 1, 2, 3, 4, 5, 6, 7, 8]


def test_an_error_comes_in_its_place(executor: Dask):
    results = executor.map(refuse_three, range(100))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError) as caught:
        next(results)
    assert (caught.value.code, caught.value.hint) == ("three", "two")


def test_further_items_follow_their_item_immediately(executor: Dask):
    assert list(executor.map(halves, [3, 5])) == [3, 1, 2, 1, 1, 5, 2, 1, 1, 3, 1, 2, 1, 1]


def test_an_item_that_kills_every_worker_is_lost_and_no_other(executor: Dask):
    results = executor.map(die_of_three, range(1, 6), lost=lambda number, error: (number, error.code))
    assert list(results) == [1, 2, (3, "worker-lost"), 4, 5]


def test_a_scheduler_that_is_not_there_is_one_clear_error_soon(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask, "_CONNECT", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(UsageError, match="no Dask scheduler answers at") as caught:
            Dask(address)
    assert caught.value.code == "scheduler"


@pytest.mark.parametrize("address", ["nonsense", "foo://x:1", "tcp://x"])
def test_an_address_that_is_none_is_refused(address: str):
    with pytest.raises(UsageError) as caught:
        Dask(address)
    assert caught.value.code == "scheduler"


def test_a_worker_with_another_version_is_refused(cluster: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sassan.__version__", "99.0")
    with pytest.raises(UsageError) as caught:
        Dask(cluster)
    assert caught.value.code == "cluster-version"


@whole("a cluster of its own")
def test_a_worker_that_stands_still_is_one_clear_error(cluster: str, monkeypatch: pytest.MonkeyPatch):
    client = distributed.Client(cluster, set_as_default=False)
    client.wait_for_workers(2, timeout=PATIENCE)  # those that other tests killed come back
    stopped = client.run(os.getpid)
    client.close()
    number = next(iter(stopped.values()))
    monkeypatch.setattr(dask, "_CONNECT", 1.5)
    os.kill(number, signal.SIGSTOP)
    try:
        with pytest.raises(UsageError, match="not every worker did within") as caught:
            Dask(cluster)
    finally:
        os.kill(number, signal.SIGCONT)
    assert caught.value.code == "scheduler"


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingToolError) as caught:
        Dask("tcp://127.0.0.1:8786")
    assert (caught.value.code, caught.value.hint) == ("dask-missing", install("dask"))


GONE = """
import os, sys, threading
import distributed
from sassan.errors import SelfCheckError
from sassan.executor import Dask

BUSY, NEVER = threading.Event(), threading.Event()

def work(item):
    if item:
        here = sys.modules["__main__"]  # the worker is a thread: what is pickled with the function would be a copy
        here.BUSY.set()
        here.NEVER.wait()

if __name__ == "__main__":
    made = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50)
    results = Dask(made.scheduler_address).map(work, [0, 1, 2])
    next(results)
    BUSY.wait()
    made.sync(made.scheduler.close)
    try:
        next(results)
    except SelfCheckError as error:
        print(error.code, flush=True)
    os._exit(0)
"""


def test_a_cluster_that_goes_is_an_error_soon(tmp_path: Path):
    script = tmp_path / "gone.py"
    script.write_text(GONE)
    results = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert results.stdout == "cluster-lost\n"


@whole("a cluster of its own")
def test_annealing_on_a_cluster_finds_what_it_finds_here(executor: Dask):
    instance = case("L2C3L2", warps=4, L=1, C=1)
    plan = AnnealingPlan(400, 0.3, (Move.SWAP,))
    on_cluster = Anneal(CHAINS[:2], plan, executor).run(instance, Budget(seed=7), lambda _: None)
    in_process = Anneal(CHAINS[:2], plan, Serial()).run(instance, Budget(seed=7), lambda _: None)
    assert on_cluster.lower is not None
    assert (on_cluster.lower, on_cluster.schedule) == (in_process.lower, in_process.schedule)
