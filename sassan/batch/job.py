"""What a batch does to every function, and how to tell whether two batches do the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.app import fingerprint
from sassan.app.request import AnalysisRequest
from sassan.arch.files import further_digest


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

    def fingerprint(self) -> Mapping[str, object]:
        """Return everything that the results depend on beside the inputs, by name: equal where the results would be, as JSON has it.

        Raises SelfCheckError for a setting that is not a plain value.
        """
        request = self.request
        values = {
            "arch": request.arch,
            "architectures": further_digest(),
            "functions": request.patterns,
            "time_limit": self.time_limit,
            "recording": request.recording,
        }
        return {**{name: fingerprint.short(value) for name, value in values.items()}, **fingerprint.of_settings(request.settings)}
