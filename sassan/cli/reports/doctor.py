"""The report of `doctor`: a line per thing that was looked at, and the lines that mend what is missing."""

from collections.abc import Sequence

from sassan.app.doctor import Examined, ExaminedState
from sassan.cli.output.terminal import out, safe
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import STRING, TEXT, choice

_of = Declare[Examined]()


class ExaminedFields(Record[Examined]):
    """One thing that was looked at."""

    purpose = _of(STRING, "what it is for", csv=True)
    state = _of(choice(*ExaminedState), "`ok`, `missing` (what needs it says so when it is asked for), or `wrong`", csv=True)
    details = _of(STRING, "what was found", csv=True)
    remedy = _of(TEXT, "the line that mends it", lambda check: check.remedy or None, csv=True)


def show(checks: Sequence[Examined]) -> None:
    """Print the lines, and below them what mends those that are not as they should be."""
    for check in checks:
        out(f"{check.state:<8} {safe(check.purpose)}: {safe(check.details)}\n")
    mending = [check for check in checks if check.remedy]
    if mending:
        out("\nwhat to do:\n" + "".join(f"  {safe(check.purpose)}: {safe(check.remedy)}\n" for check in mending))
