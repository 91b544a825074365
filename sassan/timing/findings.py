"""What the check of control codes says: a consumer, its producer, and what is missing between them."""

from dataclasses import dataclass

from sassan.errors import Gap
from sassan.isa.registers import names
from sassan.timing.hazards import RAW

SHORT, MISSING, EARLY = "short-distance", "missing-wait", "early-wait"
"""Codes of findings: too few cycles behind a fixed latency; no wait for a barrier; a wait before the barrier can be seen."""


@dataclass(frozen=True, slots=True, order=True)
class MissingWait:
    """A consumer that does not wait for its producer, by their addresses.

    `have` and `need` are cycles from issue to issue, -1 where only a wait would do. `barrier` is the one to wait for, -1 where the
    producer sets none. `dependence` is raw, waw or war, '' for an early wait.
    """

    address: int
    producer: int
    code: str
    dependence: str
    registers: int
    barrier: int = -1
    have: int = -1
    need: int = -1
    observations: int | None = None
    """On how few observations the finding rests, where they are too few: it is a note then."""

    def message(self, consumer: str, producer: str) -> str:
        """Return the finding in words, given the text of both instructions."""
        other = f"'{producer}' at 0x{self.producer:04x}"
        if self.code == EARLY:
            return f"'{consumer}' waits for barrier {self.barrier}, {_cycles(self.have)} after {other}, which sets it; it needs {self.need}"
        event = f"'{consumer}' {'reads' if self.dependence == RAW else 'overwrites'} {' '.join(names(self.registers))}"
        if self.code == SHORT:
            few = "" if self.observations is None else f", as far as at most {self.observations} observations tell"
            return f"{event}, {_cycles(self.have)} after {other}; it needs {self.need}{few}"
        sets = "which sets no barrier" if self.barrier < 0 else f"which sets barrier {self.barrier}"
        return f"{event} without a wait for {other}, {sets}"


def _cycles(number: int) -> str:
    return f"{number} cycle" if number == 1 else f"{number} cycles"


@dataclass(frozen=True, slots=True)
class Report:
    """The findings in the order of the code; gaps name what could not be followed, where something may go unseen.

    `notes` are findings that rest on too few observations to be relied on. `assumptions` name the tables that were taken from another SM.
    """

    findings: tuple[MissingWait, ...]
    gaps: tuple[Gap, ...]
    assumptions: tuple[str, ...] = ()
    notes: tuple[MissingWait, ...] = ()
