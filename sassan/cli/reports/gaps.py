"""The gaps of functions: a line for each cause with the line that closes it, or, with --gaps, a line for each gap."""

from collections.abc import Sequence

from sassan.app.gap_causes import Cause, causes
from sassan.cli.output.terminal import every_gap_wanted, label, listed, message, out, safe
from sassan.errors import Gap
from sassan.fields.kinds import address

_WIDEST, _NAME = 200, 30
_VERBS = {"--": "pass", "sassan ": "run"}


def list_gaps(functions: Sequence[tuple[str, Sequence[Gap]]]) -> None:
    """Print the gaps of functions, by cause; a long list in a message is cut (JSON has it whole)."""
    known, count = causes(functions), sum(len(gaps) for _, gaps in functions)
    if not known:
        return
    every = every_gap_wanted()
    more = f" {count}, of {len(known)} cause{'' if len(known) == 1 else 's'}; --gaps lists all" if count > len(known) else ""
    out(f"\ngaps:{'' if every else more}\n")
    if every:
        for name, gaps in functions:
            for gap in gaps:
                out(f"  {label(name, _NAME)} {address(gap.address)} {gap.code}: {_text(gap.message)}\n")
        return
    for cause in known:
        out(f"  {_head(cause)}: {_text(cause.message)}\n")
        if cause.remedy:
            verb = next((verb for start, verb in _VERBS.items() if cause.remedy.startswith(start)), "write")
            out(f"    {verb} {safe(cause.remedy)}\n")


def _head(cause: Cause) -> str:
    """Return what a cause is called, how often it is there, and where first."""
    (name, at), count = cause.places[0], len(cause.places)
    place = f"{label(name, _NAME)} {address(at)}"
    if count == 1:
        return f"{place} {cause.code}"
    functions = f" in {cause.functions} functions" if cause.functions > 1 else ""
    return f"{cause.code}: {count}{functions}, first {place}"


def _text(text: str) -> str:
    return listed(message(text), _WIDEST)
