"""The report of `doctor`: a row per thing that was looked at, and the lines that mend what is missing."""

from collections.abc import Sequence

from sassan.app.doctor import Examined, ExaminedState
from sassan.cli.output import table
from sassan.cli.output.terminal import out, safe
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import STRING, TEXT, choice

_of = Declare[Examined]()
_WIDEST = 400


class ExaminedFields(Record[Examined]):
    """One thing that was looked at."""

    purpose = _of(STRING, "what it is for", csv=True, head="for")
    state = _of(choice(*ExaminedState), "`ok`, `missing` (what needs it says so when it is asked for), or `wrong`", csv=True, head="state")
    details = _of(STRING, "what was found", csv=True, head="details", widest=_WIDEST)
    remedy = _of(TEXT, "the line that mends it", lambda check: check.remedy or None, csv=True)


def show(checks: Sequence[Examined]) -> None:
    """Print the rows, and below them what mends those that are not as they should be."""
    table.show(table.of_fields(ExaminedFields, checks))
    mending = [check for check in checks if check.remedy]
    if mending:
        out("\nto mend:\n" + "".join(f"  {safe(check.purpose)}: {safe(check.remedy)}\n" for check in mending))
