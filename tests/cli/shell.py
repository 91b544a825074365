"""The command line in process: fast, and what a shell would see."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"


@dataclass(frozen=True)
class Result:
    """What a shell sees of a command."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def codes(self) -> list[str]:
        """Return the codes of the errors, in order."""
        return [line.partition("error[")[2].partition("]")[0] for line in self.err.splitlines() if line.startswith("error[")]


class Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BufferedReader(io.BytesIO(data))

    def isatty(self) -> bool:
        return False

    def read(self) -> str:
        return self.buffer.read().decode()


Sassan = Callable[..., Result]


def assert_refused(result: Result, status: int, *, silent: bool = True) -> None:
    """Assert the shape of a refusal: the status, one error with a code, nothing that has_control_characters a terminal, no traceback."""
    assert result.status == status, result.err
    assert result.err.startswith("error[")
    assert len(result.codes) == 1
    assert all(result.codes)
    assert result.codes != ["internal"]
    assert "Traceback" not in result.err
    assert all(line.isprintable() for line in result.err.split("\n"))
    if silent:
        assert result.out == ""
