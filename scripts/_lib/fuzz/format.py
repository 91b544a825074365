"""What a format is for the fuzzer: its samples, its mutations, and what no input of it may do."""

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sassan.cli import main

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "samples"
CORPUS = ROOT / "tests" / "corpus"
_STATUSES = range(5)
"""Of the exit statuses, those that are no defect of sassan."""
_OVER = frozenset({"time-limit", "memory-limit"})
"""Codes of errors that say that an input took more than it may."""

Check = Callable[[bytes, int], str]
"""Returns what is wrong with the answer to an input, '' for nothing; the number chooses among the commands that read the format."""


@dataclass(frozen=True)
class Format:
    """A kind of input. `packages` are those of sassan that read it, whose lines count as reached or not."""

    name: str
    suffix: str
    packages: tuple[str, ...]
    mutate: Callable[[Random], bytes]
    check: Check


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    command: str
    status: int
    out: str
    err: str

    @property
    def codes(self) -> list[str]:
        """The codes of the errors, in order."""
        return [line.partition("error[")[2].partition("]")[0] for line in self.err.splitlines() if line.startswith("error[")]

    @property
    def finding(self) -> str:
        """What is wrong with it: a status that means a defect, a traceback, a limit reached, an error without a word or with several."""
        if self.status not in _STATUSES:
            return f"status {self.status}: {self.err.strip()[:400]}"
        if over := sorted(_OVER.intersection(self.codes)):
            return f"{over[0]} was reached"
        listed = self.command == "batch" and "refused" in self.out
        if self.status > 1 and not self.codes and not listed:
            return f"status {self.status} without an error"
        if not all(line.replace("\t", " ").isprintable() for line in self.err.split("\n")):
            return "a message with control characters"
        return ""


class _Bytes(io.StringIO):
    """A standard output with the buffer of bytes that one has."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = io.BytesIO()


class _NoInput(io.StringIO):
    buffer = io.BytesIO()


def answer(*arguments: str) -> Answer:
    """The answer of sassan to a command line, in this process."""
    out, err = _Bytes(), _Bytes()
    before, sys.stdin = sys.stdin, _NoInput()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = main.run(list(arguments))
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    finally:
        sys.stdin = before
    said = out.getvalue() + out.buffer.getvalue().decode("utf-8", "replace")
    return Answer(arguments[0] if arguments else "", status, said, err.getvalue())


def reading(suffix: str, *commands: Sequence[str]) -> Check:
    """A check that writes an input to a file of the working folder and has one of the commands read it; `{}` stands for the file."""

    def check(data: bytes, choice: int) -> str:
        file = Path(f"input{suffix}")
        file.write_bytes(data)
        command = commands[choice % len(commands)]
        return answer(*(part.replace("{}", str(file)) for part in command)).finding

    return check


def small(*patterns: str, most: int = 12_000) -> list[Path]:
    """The sample files of some patterns that have at most so many bytes."""
    paths = [path for pattern in patterns for path in sorted(SAMPLES.glob(pattern)) if path.stat().st_size <= most]
    assert paths
    return paths
