"""The lines of sassan that inputs reach: a sample of the inputs is traced, a function only while lines of it are left."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import sassan

_FOLDER = str(Path(sassan.__file__).parent)
Line = tuple[str, int]


class Reached:
    """Lines reached so far; `trace` adds those of a block of code, and `new` holds what the last one added."""

    def __init__(self) -> None:
        """Begin with none."""
        self.lines: set[Line] = set()
        self.new: set[Line] = set()

    @contextmanager
    def trace(self) -> Iterator[None]:
        """Trace a block."""
        self.new = set()
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)
            self.lines |= self.new

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ANN401 - what sys.settrace expects
        del event, argument
        code = frame.f_code
        if not code.co_filename.startswith(_FOLDER) or all((code.co_filename, line) in self.lines for line in _lines(code)):
            return None
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ANN401 - what sys.settrace expects
        del argument
        if event == "line":
            place = frame.f_code.co_filename, frame.f_lineno
            if place not in self.lines:
                self.new.add(place)
        return self._stepped


_KNOWN: dict[int, tuple[CodeType, frozenset[int]]] = {}


def _lines(code: CodeType) -> frozenset[int]:
    """The lines of a code object, without those inside of it; by identity, since equality of code compares all of it."""
    known = _KNOWN.get(id(code))
    if known is None:
        lines = frozenset(line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno)
        _KNOWN[id(code)] = known = code, lines
    return known[1]


def lines_of(packages: Iterable[str]) -> set[Line]:
    """The lines of functions in some packages or modules."""
    out: set[Line] = set()
    for name in packages:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        folder = spec.submodule_search_locations
        for path in sorted(Path(folder[0]).rglob("*.py")) if folder else [Path(spec.origin)]:
            for code in _inside(compile(path.read_text("utf-8"), str(path), "exec")):
                out |= {(str(path), line) for line in _lines(code)}
    return out


def _inside(code: CodeType) -> Iterator[CodeType]:
    """Every function inside a module or a function; bodies of classes run once, at import, and do not count."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 1:  # CO_OPTIMIZED: a function
                yield constant
            yield from _inside(constant)
