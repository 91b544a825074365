"""Under which other options a baseline was made: what its documents tell of them, and not what follows from other code.

Addresses and the argument of an inferred bound change with the code; they are compared only where the code is the same.
"""

import re
from collections.abc import Iterator, Mapping

from sassan.app.builds.saved_results import Result

_ORDERS = ("the taken side of a divergence runs first", "either side of a divergence may run first")
_LATENCIES = re.compile(r"in cycles: (.*)")
_SM = "SM of compute capability "


def other(old: Result, new: Result) -> tuple[str, ...]:
    """Return in what the options of two results differ, as far as the results tell: `--loop-bound 9, now 10`."""
    before, after = dict(_stated(old)), dict(_stated(new))
    differing = [f"{what} {before[what]}, now {after[what]}" for what in after if what in before and before[what] != after[what]]
    differing.extend(_launch(old, new))
    differing.extend(_bounds(old, new))
    if not differing and old.text is not None and old.text == new.text:
        differing.extend(_same_code(old, new))
    return tuple(differing)


def _stated(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what is given on both sides, whatever the code: what it is, and its value."""
    if result.version:
        yield "version", result.version
    for text in result.assumptions:
        latencies = _LATENCIES.search(text)
        if text in _ORDERS:
            yield "order:", text
        elif text.startswith(_SM):
            yield "SM:", text.removeprefix(_SM)
        elif latencies is not None:
            for each in latencies[1].split(", "):
                name, _, cycles = each.rpartition(" ")
                yield f"latency {name}", cycles


def _launch(old: Result, new: Result) -> Iterator[str]:
    """Yield what was launched and how, where it differs; that a launch is given only now is no difference, since nothing was held to it."""
    for what, before, after in (
        ("blocks of", _spelled(old.block, "threads"), _spelled(new.block, "threads")),
        ("a grid of", _grid(old), _grid(new)),
    ):
        if before and before != after:
            yield f"{what} {before}, now {after or 'not given'}"
    if old.warps is not None and new.warps is None and not new.launched:
        yield f"{old.warps} warps, now not given"


def _spelled(number: int | None, what: str) -> str:
    return "" if number is None else f"{number} {what}"


def _grid(result: Result) -> str:
    return "" if result.grid is None else f"{result.grid[0]} blocks on {result.grid[1]} SM" + ("" if result.grid[1] == 1 else "s")


def _bounds(old: Result, new: Result) -> Iterator[str]:
    """Yield the loop bounds that are assumed only now; those that went with changed code are not missed."""
    before, after = _assumed(old), _assumed(new)
    same = old.text is not None and old.text == new.text
    for source, name in (("default", "--loop-bound"), ("fact", "flow facts:")):
        was, now = before.get(source, set[int]()), after.get(source, set[int]())
        if now - was or (same and was - now):
            yield f"{name} {_listed(was)}, now {_listed(now)}"


def _assumed(result: Result) -> Mapping[str, set[int]]:
    arguments: dict[str, set[int]] = {}
    for loop in result.loops:
        if loop.bound is not None:
            arguments.setdefault(loop.source, set()).add(loop.bound)
    return arguments


def _listed(bounds: set[int]) -> str:
    return ", ".join(map(str, sorted(bounds))) or "none"


def _same_code(old: Result, new: Result) -> Iterator[str]:
    """Yield the first that differs where the code does not, so that whatever differs comes from the options."""
    if old.warps == new.warps and old.assumptions != new.assumptions:
        was = next((text for text in old.assumptions if text not in new.assumptions), "nothing")
        now = next((text for text in new.assumptions if text not in old.assumptions), "nothing")
        yield f"'{was}', now '{now}'"
    elif old.loops != new.loops:
        yield f"other loop bounds: {_all(old)}, now {_all(new)}"


def _all(result: Result) -> str:
    return ", ".join("none" if loop.bound is None else str(loop.bound) for loop in result.loops) or "no loops"
