"""The clock that limits are held to stands still while a search is compiled."""

from threading import Thread

import numba
import pytest

from sassan.jit import clock


class Time:
    """The module `time` with a moment that a test sets."""

    moment = 100.0

    def monotonic(self) -> float:
        return self.moment


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(clock, "time", made)
    monkeypatch.setattr(clock, "_lag", 0.0)
    return made


def test_the_clock_runs_where_nothing_is_compiled(time: Time) -> None:
    before = clock.now()
    time.moment += 3
    assert clock.now() - before == 3


def test_the_clock_is_stopped_until_the_outermost_compiler_has_ended(time: Time) -> None:
    before = clock.now()
    clock.stop()
    time.moment += 3
    clock.stop()
    time.moment += 4
    assert (clock.now(), clock.lag()) == (before, 7)
    clock.go_on()
    time.moment += 5
    clock.go_on()
    time.moment += 1
    assert (clock.now() - before, clock.lag()) == (1, 12)


def test_two_threads_that_compile_at_a_time_stop_it_once(time: Time) -> None:
    before = clock.now()
    for act in (clock.stop, clock.stop, clock.go_on, clock.go_on):
        thread = Thread(target=act)
        thread.start()
        thread.join()
        time.moment += 1
    assert clock.now() - before == 1


def test_what_numba_compiles_stops_the_clock() -> None:
    before = clock.lag()
    function = numba.njit(lambda left, right: left + right)
    assert function(1, 2) == 3
    assert clock.lag() > before
    after = clock.lag()
    assert function(3, 4) == 7
    assert clock.lag() == after


def test_a_function_that_does_not_compile_lets_the_clock_go_on() -> None:
    with pytest.raises(numba.TypingError):
        numba.njit(lambda text: text.frobnicate())(1)
    before = clock.lag()
    assert clock.lag() == before
