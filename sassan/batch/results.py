"""The file of results: JSON Lines that only ever grow by whole lines, and that say themselves how far they are.

The first line says which tool wrote them and under which settings; a last line that was torn by a crash is dropped when the batch goes on.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from sassan.app import documents
from sassan.batch.job import Job
from sassan.batch.lines import LineOutcome, ResultPosition, line, outcome, place
from sassan.errors import SassanError, UsageError, is_full, no_space

if TYPE_CHECKING:
    from sassan.fields.field import Value

_KEY = "batch"
_ANEW = "start again with --overwrite, or name another file"
_LONGEST = 1 << 20
"""Bytes of a first line that are looked at: those of a batch are far shorter."""


class Sink(Protocol):
    """Where lines go."""

    def write(self, lines: bytes) -> None:
        """Take whole lines."""
        ...


@dataclass(frozen=True, slots=True)
class Begun:
    """What a file of results holds: how far each input is, in their order, and the outcome of every line."""

    places: tuple[ResultPosition, ...] = ()
    outcomes: tuple[LineOutcome, ...] = ()


class ResultsFile:
    """A file of results that no other process writes; it is made when the first line comes."""

    def __init__(self, path: str, job: Job, *, resume: bool = False, overwrite: bool = False) -> None:
        """Open the file, and read what it holds (`begun`).

        A file that is not a batch is kept. Raises UsageError: `output-exists` unless it is to be continued or written anew, `output-busy`
        while another batch writes it, `cannot-write`, `not-a-batch`, `other-settings`, `results-damaged`.
        """
        self._path = path
        self._head = {**documents.tool(), _KEY: {"settings": cast("dict[str, Value]", job.fingerprint())}}
        self._file = _open(path)
        try:
            self.begun = self._begin(resume=resume, overwrite=overwrite)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file; one without a line is removed."""
        with suppress(OSError):
            os.fsync(self._file.fileno())
        if self.empty:
            with suppress(OSError):
                Path(self._path).unlink()
        self._file.close()

    @property
    def empty(self) -> bool:
        """Say whether no line was written, by this batch or by an earlier one."""
        return not os.fstat(self._file.fileno()).st_size

    def write(self, lines: bytes) -> None:
        """Append whole lines, or none; raises UsageError `cannot-write`, StorageError `no-space`."""
        data = line(self._head) + lines if self.empty else lines
        before = os.fstat(self._file.fileno()).st_size
        try:
            while data:
                data = data[os.write(self._file.fileno(), data) :]
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(before)
            raise _cannot(self._path, error) from None

    def _begin(self, *, resume: bool, overwrite: bool) -> Begun:
        if self.empty:
            return Begun()
        if not (resume or overwrite):
            raise UsageError("output-exists", f"'{self._path}' exists", hint="continue with --resume, or " + _ANEW)
        if not self._of_a_batch():
            hint = "name another file with -o, or remove this one yourself"
            raise UsageError("not-a-batch", f"'{self._path}' does not hold the results of a batch", hint=hint)
        if overwrite:
            self._file.truncate(0)
            return Begun()
        whole, begun = self._read()
        self._file.truncate(whole)
        return begun

    def _of_a_batch(self) -> bool:
        """Say whether the first line is one of a batch, or the beginning of one that a crash has cut off."""
        self._file.seek(0)
        first = self._file.readline(_LONGEST)
        if first.endswith(b"\n"):
            return _settings(_parsed(first)) is not None
        start = line(documents.tool()).rstrip(b"}\n")
        return first.startswith(start[: len(first)]) and start.startswith(first[: len(start)])

    def _read(self) -> tuple[int, Begun]:
        """Return how many bytes are whole lines, and what they say."""
        places: list[ResultPosition] = []
        outcomes: list[LineOutcome] = []
        size = 0
        self._file.seek(0)
        for number, text in enumerate(self._file, 1):
            if not text.endswith(b"\n"):
                break
            document = _parsed(text)
            if number == 1:
                self._same(document)
            else:
                where, result = (place(document), outcome(document)) if document is not None else (None, None)
                if where is None or result is None or not _follows(places, where):
                    raise UsageError(
                        "results-damaged", f"line {number} of '{self._path}' is not what a batch has written there", hint=_ANEW
                    )
                places[-1 if _goes_on(places, where) else len(places) :] = [where]
                outcomes.append(result)
            size += len(text)
        return size, Begun(tuple(places), tuple(outcomes))

    def _same(self, head: Mapping[str, Any] | None) -> None:
        """Refuse results of other settings, or of another version."""
        if head is None or any(head.get(key) != self._head[key] for key in ("schema", "tool")):
            raise UsageError("other-settings", f"another version of sassan has written '{self._path}'", hint=_ANEW)
        ours = cast("dict[str, object]", cast("Any", self._head[_KEY])["settings"])
        theirs = _settings(head) or {}
        changed = [name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)]
        if changed:
            text = "; ".join(f"{name} was {_shown(theirs.get(name))}, is {_shown(ours.get(name))}" for name in changed)
            raise UsageError("other-settings", f"'{self._path}' was started with other settings: {text}", hint="pass the same, or " + _ANEW)


def _settings(head: Mapping[str, Any] | None) -> dict[str, object] | None:
    """Return the settings that the first line of a batch tells, None of another line."""
    match head:
        case {"schema": _, "tool": {"name": "sassan"}, "batch": {"settings": dict(settings)}}:
            return cast("dict[str, object]", settings)
        case _:
            return None


def _shown(value: object) -> str:
    return "not given" if value is None else value if isinstance(value, str) else json.dumps(value)


def _goes_on(places: list[ResultPosition], where: ResultPosition) -> bool:
    return bool(places) and places[-1].file == where.file and not places[-1].done


def _follows(places: list[ResultPosition], where: ResultPosition) -> bool:
    """Say whether a line may come next: the next function of the same file, or another file."""
    if not places or places[-1].done:
        return not where.function or where.functions is None
    last = places[-1]
    same = (where.file, where.digest) == (last.file, last.digest) and where.functions in (None, last.functions)
    return same and where.function == (last.function or 0) + 1


def _parsed(text: bytes) -> Mapping[str, Any] | None:
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", document) if isinstance(document, dict) else None


def _open(path: str) -> Any:  # noqa: ANN401 - a binary file
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - no error where a folder may not be searched
        # Written from the beginning to the end of a stream, the results could neither be gone on with nor be written anew.
        raise UsageError(
            "cannot-write", f"'{path}' is not a regular file", hint="-o - prints the results; without -o only the summary is printed"
        )
    try:
        file = open(path, "a+b")  # noqa: PTH123, SIM115 - ResultsFile closes it
    except (OSError, ValueError) as error:
        raise _cannot(path, error) from None
    try:
        import fcntl  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError("output-busy", f"another batch writes '{path}'", hint="wait for it, or name another file") from None
    return file


def _cannot(path: str, error: OSError | ValueError) -> SassanError:
    if isinstance(error, OSError) and is_full(error):
        return no_space(f"'{path}'", error)
    return UsageError("cannot-write", f"cannot write '{path}': {getattr(error, 'strerror', None) or error}")
