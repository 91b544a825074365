"""What a client asks for, what it gets, and the limits of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sassan.errors import InputError


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Of one call: `seconds` of time, bytes of `memory` (None: no limit), bytes of the `input`, and rows of each list of an answer."""

    seconds: float = 60.0
    memory: int | None = None
    input: int = 4 << 20
    rows: int = 8


def too_large(limits: CallLimits) -> InputError:
    """The error of an input beyond the limit."""
    message = f"the input is larger than {limits.input / (1 << 20):g} MiB"
    return InputError("too-large", message, hint="send less, or start the server with a larger --max-input")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call: the tool, its arguments as the client sent them, the folder of files, and the limits."""

    tool: str
    arguments: Mapping[str, Any]
    root: str
    limits: CallLimits


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a call gets: a document, which is an error where `refused`."""

    document: Mapping[str, Any]
    refused: bool = False
