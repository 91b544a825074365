"""How the searches are compiled. Importing this module imports the compiler, which takes most of a second."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from sassan.makespan import clock

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Return the function compiled to machine code at its first use, kept on disk, free of the interpreter's lock."""
    return cast("F", numba.njit(cache=True, nogil=True)(function))


def unchecked(function: F) -> F:
    """Return the function compiled without checks for division by zero."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def inner(function: F) -> F:
    """Return an `unchecked` function that only compiled ones call: without a wrapper for Python, which is slow to compile."""
    make: Callable[..., Any] = numba.njit  # its type lacks these options
    return cast("F", make(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))


class _Watch(event.Listener):
    """Stops the clock of the searches while numba compiles."""

    def on_start(self, event: object) -> None:
        del event
        clock.stop()

    def on_end(self, event: object) -> None:
        del event
        clock.go_on()


event.register("numba:compile", _Watch())  # type: ignore[no-untyped-call]  # numba lacks the type
