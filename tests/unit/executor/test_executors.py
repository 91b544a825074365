"""Every executor keeps the one contract: order, errors, early ends, interrupts."""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from budget import PATIENCE, whole
from sassan.errors import InputError, SelfCheckError
from sassan.executor import Executor, More, Processes, Serial, Threads, end_after
from sassan.source import Source, Span

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """Two processes that stay for many tests: each takes a second to start."""
    with Processes(2) as executor:
        yield executor


@pytest.fixture(params=["serial", "threads", "processes"])
def executor(request: pytest.FixtureRequest, processes: Processes) -> Executor:
    return {"serial": Serial(), "threads": Threads(2), "processes": processes}[request.param]


def square(number: int) -> int:
    return number * number


def slow_first(number: int) -> int:
    time.sleep(0.2 if number == 0 else 0)
    return number


def refuse_three(number: int) -> int:
    if number == 3:
        raise InputError("three", "no threes", source=Source("x", "3"), span=Span(1, 1, 1), hint="two")
    return number


def die(number: int) -> int:
    os._exit(number)


def test_results_come_in_the_order_of_the_items(executor: Executor):
    assert list(executor.map(slow_first, range(9))) == [0, 1, 2, 3, 4, 5, 6, 7, 8]


def test_no_items_give_no_results(executor: Executor):
    assert list(executor.map(square, [])) == []


def test_an_error_keeps_its_parts_and_is_raised_in_order(executor: Executor):
    results = executor.map(refuse_three, range(100))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError) as caught:
        next(results)
    assert (caught.value.code, caught.value.hint, caught.value.span) == ("three", "two", Span(1, 1, 1))


@pytest.mark.parametrize("executor", [Serial(), Threads(2)], ids=["serial", "threads"])
def test_a_dropped_iterator_starts_no_further_item(executor: Executor):
    read: list[int] = []

    def source() -> Iterator[int]:
        for number in range(1000):
            read.append(number)
            yield number

    results = executor.map(square, source())
    assert next(results) == 0
    del results
    assert len(read) < 10


def test_a_process_that_dies_each_time_is_an_error_with_a_code():
    with pytest.raises(SelfCheckError) as caught:
        list(Processes(1).map(die, [7]))
    assert caught.value.code == "worker-lost"
    assert caught.value.message == "a worker process ended without a result: status 7"


def halves(number: int) -> int | More[int, int]:
    return More(number, (number // 2, number - number // 2)) if number > 1 else number


def test_further_items_follow_their_item_immediately(executor: Executor):
    assert list(executor.map(halves, [3, 5])) == [3, 1, 2, 1, 1, 5, 2, 1, 1, 3, 1, 2, 1, 1]


def die_of_threes(number: int) -> int:
    if number % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_an_item_that_kills_its_process_each_time_is_lost_and_no_other():
    results = list(Processes(2).map(die_of_threes, range(1, 8), lost=lambda number, error: (number, error.code)))
    assert results == [1, 2, (3, "worker-lost"), 4, 5, (6, "worker-lost"), 7]


@whole("lost items and further items are tested alone")
def test_the_replacement_of_a_lost_item_may_have_further_items():
    results = Processes(1).map(die_of_threes, [3, 5], lost=lambda _, __: More(0, (1, 2)))
    assert list(results) == [0, 1, 2, 5]


def die_once(place: str) -> str:
    if not Path(place).exists():
        Path(place).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def test_an_item_whose_process_was_killed_runs_again(tmp_path: Path):
    assert list(Processes(2).map(die_once, [str(tmp_path / "a"), str(tmp_path / "b")])) == ["done", "done"]


def too_long(number: int) -> int:
    end_after(0.2 if number == 1 else None)
    time.sleep(2 * PATIENCE if number == 1 else 0)
    return number


def test_a_process_can_have_itself_ended_after_a_time_and_is_not_tried_again():
    assert list(Processes(1).map(too_long, [0, 1, 2], lost=lambda _, error: error.code)) == [0, "time-limit", 2]


def process_of(number: int) -> int:
    del number
    return os.getpid()


def test_processes_stay_for_the_next_run_inside_a_with_block():
    with Processes(1) as executor:
        assert set(executor.map(process_of, range(3))) == set(executor.map(process_of, range(3)))


def test_processes_do_not_stay_outside_of_a_with_block():
    executor = Processes(1)
    assert set(executor.map(process_of, range(3))) != set(executor.map(process_of, range(3)))


def threads_of(name: str) -> str | None:
    return os.environ.get(name)


def test_a_process_has_one_thread_for_every_library(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    assert list(Processes(1).map(threads_of, ["OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"])) == ["1", "1", "1"]
    assert (os.environ["OMP_NUM_THREADS"], "NUMBA_NUM_THREADS" in os.environ) == ("7", False)


def not_portable(number: int) -> object:
    return (lambda: number) if number == 1 else number


def test_a_result_that_cannot_be_sent_is_an_error_and_the_process_goes_on(processes: Processes):
    with pytest.raises(SelfCheckError) as caught:
        list(processes.map(not_portable, [0, 1]))
    assert caught.value.code == "worker-failed"
    assert list(processes.map(square, [2])) == [4]


class PeculiarError(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def raise_peculiar(number: int) -> int:
    raise PeculiarError(number, number)


def test_an_error_that_cannot_be_unpickled_keeps_its_text(processes: Processes):
    with pytest.raises(SelfCheckError, match="PeculiarError: 3 and 3"):
        list(processes.map(raise_peculiar, [3]))


def slow_zero(number: int) -> int:
    time.sleep(0.5 if number == 0 else 0)
    return number


def test_few_results_wait_for_an_earlier_one():
    read: list[int] = []

    def source() -> Iterator[int]:
        for number in range(2000):
            read.append(number)
            yield number

    results = Threads(2).map(slow_zero, source())
    assert next(results) == 0
    assert len(read) < 100
    assert list(results) == list(range(1, 2000))


def test_an_error_survives_pickling():
    error = InputError("a-code", "a message", source=Source("n", "text"), span=Span(2, 3, 4), hint="h")
    restored = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(restored), restored.code, restored.message, restored.source, restored.span, restored.hint) == (
        InputError,
        "a-code",
        "a message",
        Source("n", "text"),
        Span(2, 3, 4),
        "h",
    )


INTERRUPTED = """
import os, time
from sassan.executor import Processes

def forever(number):
    os.write(1, b"started\\n")  # in one piece, also when two start at once
    time.sleep(1200)

if __name__ == "__main__":
    try:
        list(Processes(2).map(forever, range(4)))
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


BORN = """
import signal
from sassan.executor import Processes

def blocked(number):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

if __name__ == "__main__":
    print(all(Processes(2).map(blocked, range(4))))
"""


def test_no_interrupt_reaches_a_process_that_is_being_born(tmp_path: Path):
    # The first process starts what tracks them all: that one lets interrupts through where it starts.
    script = tmp_path / "born.py"
    script.write_text(BORN)
    results = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert (results.stdout, results.stderr) == ("True\n", "")


def test_an_interrupt_of_the_terminal_ends_every_process_without_a_traceback(tmp_path: Path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "started\n"
        os.killpg(process.pid, signal.SIGINT)
        # Both streams end only when no process holds them any more.
        out, err = process.communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "stopped"
    assert err == ""
