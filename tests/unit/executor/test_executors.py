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

from sassan.errors import InputError, SelfCheckError
from sassan.executor import Executor, Processes, Serial, Threads
from sassan.source import Source, Span

EXECUTORS = [Serial(), Threads(2), Processes(2)]
NAMES = ["serial", "threads", "processes"]


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


@pytest.mark.parametrize("executor", EXECUTORS, ids=NAMES)
def test_results_come_in_the_order_of_the_items(executor: Executor):
    assert list(executor.map(slow_first, range(9))) == [0, 1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("executor", EXECUTORS, ids=NAMES)
def test_no_items_give_no_results(executor: Executor):
    assert list(executor.map(square, [])) == []


@pytest.mark.parametrize("executor", EXECUTORS, ids=NAMES)
def test_an_error_keeps_all_that_it_says_and_comes_in_its_place(executor: Executor):
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


def test_a_process_that_dies_is_an_error_with_a_code():
    with pytest.raises(SelfCheckError) as caught:
        list(Processes(1).map(die, [7]))
    assert caught.value.code == "worker-lost"


def test_an_error_survives_pickling():
    error = InputError("a-code", "a message", source=Source("n", "text"), span=Span(2, 3, 4), hint="h")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(again), again.code, again.message, again.source, again.span, again.hint) == (
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
    time.sleep(60)

if __name__ == "__main__":
    try:
        list(Processes(2).map(forever, range(4)))
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


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
        out, err = process.communicate(timeout=20)
    assert out.splitlines()[-1] == "stopped"
    assert err == ""
