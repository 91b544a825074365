"""What a command shows while a request runs: errors at once, and a progress bar where a person reads it."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from sassan.app.inputs import RefusedInput, RequestObserver
from sassan.cli.output import failure
from sassan.cli.output.progress import track
from sassan.cli.output.terminal import note
from sassan.names import visible

_Item = TypeVar("_Item")


class CommandObserver(RequestObserver):
    """Prints the error of each input that is refused, and shows progress unless it is `quiet`."""

    def __init__(self, *, quiet: bool) -> None:
        """Take whether progress and notes are hidden."""
        self.quiet = quiet

    def refused(self, refused: RefusedInput) -> None:
        """Print the error."""
        failure.show(refused.error, refused.file)

    def assumed(self, text: str) -> None:
        """Print the assumption."""
        note(f"assumption: {text}\n")

    def noted(self, text: str) -> None:
        """Print the note, unless quiet."""
        if not self.quiet:
            note(f"note: {visible(text)}\n")

    def steps(self, items: Iterable[_Item], label: str, total: int | None = None) -> Iterator[_Item]:
        """Yield the items, showing how many are done."""
        return track(items, label, quiet=self.quiet, total=total)
