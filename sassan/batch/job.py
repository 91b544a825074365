"""What a batch does to every function, and how to tell whether two batches do the same."""

import hashlib
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from itertools import starmap

from sassan.app.request import AnalysisRequest
from sassan.arch.files import further_digest
from sassan.errors import SelfCheckError

_SHOWN = 60
"""Characters of a setting that are kept as they are; longer ones are distinguished by their digest."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request whose files are those of the batch; each function may take `time_limit` seconds, where none are given `usual` ones."""

    request: AnalysisRequest = field(default_factory=lambda: AnalysisRequest(()))
    time_limit: float | None = None
    usual: float | None = None

    @property
    def seconds(self) -> float | None:
        """The seconds that each function may take; None: as many as it needs."""
        return self.usual if self.time_limit is None else self.time_limit

    def fingerprint(self) -> Mapping[str, str]:
        """Return everything that the results depend on beside the inputs, by name: equal where the results would be.

        Raises SelfCheckError for a setting that is no plain value.
        """
        request = self.request
        values = {
            "arch": request.arch,
            "architectures": further_digest(),
            "functions": request.patterns,
            "time_limit": self.time_limit,
            "recording": request.recording,
        }
        settings = {each.name: getattr(request.settings, each.name) for each in fields(request.settings)}
        return {name: _short(_spelled(value)) for name, value in (values | settings).items()}


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _spelled(value: object) -> str:
    """Return one spelling for equal values, the same in every process: sets and mappings by the spelling of what they hold."""
    match value:
        case Enum():
            return f"{type(value).__name__}.{value.name}"
        case str() | bytes() | int() | float() | Fraction() | None:
            return repr(value)
        case Mapping():
            return "{" + ", ".join(sorted(starmap(_pair, value.items()))) + "}"
        case AbstractSet():
            return "{" + ", ".join(sorted(map(_spelled, value))) + "}"
        case Sequence():
            return "(" + ", ".join(map(_spelled, value)) + ")"
        case _ if is_dataclass(value):
            held = ", ".join(f"{member.name}={_spelled(getattr(value, member.name))}" for member in fields(value) if member.compare)
            return f"{type(value).__name__}({held})"
        case _:
            raise SelfCheckError("settings", f"a {type(value).__name__} among the settings cannot be distinguished from another")


def _pair(key: object, value: object) -> str:
    return f"{_spelled(key)}: {_spelled(value)}"
