"""How the searches are compiled. Importing this module imports the compiler, which takes most of a second."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from sassan.makespan import clock

F = TypeVar("F", bound=Callable[..., Any])
_make: Callable[..., Any] = numba.njit  # its type lacks some options
_INNER = {"cache": True, "nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: F) -> F:
    """Return the function compiled to machine code at its first use, kept on disk, free of the interpreter's lock."""
    return _readable(cast("F", numba.njit(cache=True, nogil=True)(function)))


def unchecked(function: F) -> F:
    """Return the function compiled without checks for division by zero."""
    return _readable(cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function)))


def inner(function: F) -> F:
    """Return an `unchecked` function that only compiled ones call: without a wrapper for Python, which is slow to compile."""
    return _readable(cast("F", _make(**_INNER)(function)))


def uncounted(function: F) -> F:
    """Return a `compiled` function without counts of references, which calls of many arrays spend most of their time on.

    It creates no array and no view of one: numba refuses to compile what would.
    """
    return _readable(cast("F", _make(cache=True, nogil=True, error_model="numpy", _nrt=False)(function)))


def uncounted_inner(function: F) -> F:
    """Return an `inner` function without counts of references, as `uncounted`; it is compiled into each of its callers."""
    return _readable(cast("F", _make(**_INNER, forceinline=True, _nrt=False)(function)))


def _readable(function: F) -> F:
    """Return a compiled function that compiles anew where its index on disk, kept by another version, names types that are gone.

    numba reads the types in an index before it looks whether the source has changed since. Nothing public leads to the index.
    """
    index: Any = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if index is not None:
        load = index._load_index  # noqa: SLF001

        def loaded() -> object:
            try:
                return load()
            except (AttributeError, ImportError):
                return {}

        index._load_index = loaded  # noqa: SLF001
    return function


class _Watch(event.Listener):
    """Stops the clock of the searches while numba compiles."""

    def on_start(self, event: object) -> None:
        del event
        clock.stop()

    def on_end(self, event: object) -> None:
        del event
        clock.go_on()


event.register("numba:compile", _Watch())  # type: ignore[no-untyped-call]  # numba lacks the type
