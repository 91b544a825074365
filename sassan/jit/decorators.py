"""How functions are compiled. Importing this module imports the compiler, which takes most of a second."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config, event

from sassan.entries import cache_folder, usable
from sassan.jit import clock
from sassan.system.folders import make_private, trusted

F = TypeVar("F", bound=Callable[..., Any])
_SHARED = "others may write every folder that would keep machine code"
_make: Callable[..., Any] = numba.njit  # its type lacks some options
_INNER = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: F) -> F:
    """Return the function compiled to machine code at its first use, kept on disk, free of the interpreter's lock."""
    return _kept(function, nogil=True)


def unchecked(function: F) -> F:
    """Return the function compiled without checks for division by zero."""
    return _kept(function, nogil=True, error_model="numpy")


def inner(function: F) -> F:
    """Return an `unchecked` function that only compiled ones call: without a wrapper for Python, which is slow to compile."""
    return _kept(function, **_INNER)


def uncounted(function: F) -> F:
    """Return a `compiled` function without counts of references, which calls of many arrays spend most of their time on.

    It creates no array and no view of one: numba refuses to compile what would.
    """
    return _kept(function, nogil=True, error_model="numpy", _nrt=False)


def uncounted_inner(function: F) -> F:
    """Return an `inner` function without counts of references, as `uncounted`; it is compiled into each of its callers."""
    return _kept(function, **_INNER, forceinline=True, _nrt=False)


def _kept(function: F, **options: object) -> F:
    """Return the function compiled, and kept on disk where that can be written.

    It compiles anew where its index on disk, kept by another version, names types that are gone: numba reads the types in an index before
    it looks whether the source has changed since. A disk that is full is not an error: numba forgives that on Windows only. Nothing public
    leads to the index, or to what saves.
    """
    try:
        made = _cached(function, **options)
    except RuntimeError:  # there is no folder that can be written
        return cast("F", _make(**options)(function))
    cache: Any = getattr(made, "_cache", None)
    index: Any = getattr(cache, "_cache_file", None)
    if index is not None:
        load = index._load_index  # noqa: SLF001

        def loaded() -> object:
            try:
                return load()
            except (AttributeError, ImportError):
                return {}

        index._load_index = loaded  # noqa: SLF001
        save = cache.save_overload

        def saved(signature: object, data: object) -> None:
            with suppress(OSError):
                save(signature, data)

        cache.save_overload = saved
    return made


def _cached(function: F, **options: object) -> F:
    """Return the function compiled, and kept in a folder that no other user may write: others would have it run what they put there.

    numba keeps it in NUMBA_CACHE_DIR, or beside the module; where others may write that, it is kept in a cache of this user's own. Raises
    RuntimeError where there is no such folder.
    """
    made = _make(cache=True, **options)(function)
    if _is_trusted(made):
        return cast("F", made)
    folder = cache_folder("machine-code")
    if not usable(folder):
        raise RuntimeError(_SHARED)
    settings: Any = config  # its types lack its variables
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        made = _make(cache=True, **options)(function)
    finally:
        settings.CACHE_DIR = before
    if not _is_trusted(made):
        # Open to a group where the umask allows it: one that holds something stays as it is, and is not used.
        place = Path(made.stats.cache_path)
        with suppress(OSError):
            place.rmdir()
            make_private(place)
    if not _is_trusted(made):
        raise RuntimeError(_SHARED)
    return cast("F", made)


def _is_trusted(made: Any) -> bool:  # noqa: ANN401 - of numba, or the function itself where compiling is switched off
    return not hasattr(made, "stats") or trusted(Path(made.stats.cache_path))


class _Watch(event.Listener):
    """Stops the clock while numba compiles."""

    def on_start(self, event: object) -> None:
        del event
        clock.stop()

    def on_end(self, event: object) -> None:
        del event
        clock.go_on()


event.register("numba:compile", _Watch())  # type: ignore[no-untyped-call]  # numba lacks the type
