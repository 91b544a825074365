"""What the numbers of a report rest on: how many assumptions of each status there are, and the unverified ones in full."""

from collections.abc import Mapping, Sequence

from sassan.app.result import AnalysisResult
from sassan.assumptions import AssumptionStatus, counted, kind_of
from sassan.cli.output.terminal import label, out, safe


def show(texts: Mapping[str, str] | Sequence[str], *, every: bool = False) -> None:
    """Print how many assumptions there are of each kind, then the unverified ones and those of a recording; `every`: all, with their kinds.

    What stands behind each text is printed with it.
    """
    suffixes = texts if isinstance(texts, Mapping) else dict.fromkeys(texts, "")
    if not suffixes:
        return
    shown = [text for text in suffixes if every or kind_of(text) in {AssumptionStatus.ASSUMED, AssumptionStatus.RECORDED}]
    rest = "; --assumptions lists all" if len(shown) < len(suffixes) else ""
    out(f"\nassumptions: {counted(tuple(suffixes))}{rest}\n")
    for text in shown:
        out(f"  - {f'{kind_of(text).value}: ' if every else ''}{safe(text + suffixes[text])}\n")


def of_results(results: Sequence[AnalysisResult], further: Sequence[str] = (), *, every: bool = False) -> None:
    """Print the assumptions of several functions, each once, and further ones; one that not every function needs names those that do."""
    users: dict[str, list[str]] = {}
    for result in results:
        for text in result.assumptions:
            users.setdefault(text, []).append(result.function.name)
    bounded = sum(bool(result.assumptions) for result in results)
    suffixes = {text: "" if len(names) == bounded else f" ({_some(names)})" for text, names in users.items()}
    show(suffixes | dict.fromkeys(further, ""), every=every)


def _some(names: Sequence[str]) -> str:
    first = label(names[0], 30)
    return first if len(names) == 1 else f"{first} and {len(names) - 1} more"
