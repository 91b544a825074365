"""Gaps by their causes: what one line on the command line, or in a file of facts, closes together."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassan.errors import Gap

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_EXTERNAL = re.compile(r"\[(external\..+?)\] cost = N")
_OPTIONS = re.compile(r"--[a-z][a-z-]*(?: [\w.:]+=\w+| [A-Z]+\b)?")
_VALUES = {"--block-dim": "X,Y,Z", "--grid": "X,Y,Z", "--loop-bound": "N", "--call-depth": "N", "--model": "unit"}
"""The values of options that messages name without one."""
_FACTS = "--bounds"
_TEMPLATE = "sassan ipet FILE -f NAME --facts-template > facts.toml"
_OF_CODE: Mapping[str, str] = {
    "unbounded-loop": "--loop-bound N",
    "refuted-bound": "--loop-bound N",
    "indirect-branch": _TEMPLATE,
    "indirect-call": _TEMPLATE,
    "contradictory-facts": "sassan ipet FILE -f NAME -o rows.lp",
    "no-control-codes": "--model table",
    "no-machine-code": "--model unit",
    "unknown-occupancy": "--registers N --shared BYTES",
}
"""What closes a gap whose message names no option with a value."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Gaps of one code that the same line closes: `message` is that of the first of the `places` (function and address).

    `remedy` is the line to paste, '' where no option closes them: then the message is the same but for addresses.
    """

    code: str
    message: str
    places: tuple[tuple[str, int], ...]
    remedy: str

    @property
    def functions(self) -> int:
        """How many functions have such a gap."""
        return len({name for name, _ in self.places})


def causes(functions: Sequence[tuple[str, Sequence[Gap]]]) -> tuple[Cause, ...]:
    """Return the causes of the gaps of functions, in the order of their first places."""
    groups: dict[tuple[str, str], list[tuple[str, Gap]]] = {}
    for name, gaps in functions:
        for gap in gaps:
            groups.setdefault((gap.code, remedy(gap) or _ADDRESS.sub("0x", gap.message)), []).append((name, gap))
    return tuple(_cause(several) for several in groups.values())


def _cause(several: Sequence[tuple[str, Gap]]) -> Cause:
    first = several[0][1]
    return Cause(first.code, first.message, tuple((name, gap.address) for name, gap in several), remedy(first))


def remedy(gap: Gap) -> str:
    """Return the line that closes a gap: options for the command line, a line of a file for --bounds, a command, or ''."""
    if external := _EXTERNAL.search(gap.message):
        return f"{external[1]}.cost = N   (a line of a file for --bounds)"
    return " ".join(_options(gap.message)) or _OF_CODE.get(gap.code, "")


def _options(message: str) -> Iterator[str]:
    """Yield the options that a message asks for together, with values: those before the alternatives that close any loop."""
    for option in dict.fromkeys(_OPTIONS.findall(message.partition(f", {_FACTS} or ")[0])):
        name, _, value = option.partition(" ")
        if value or name in _VALUES:
            yield f"{name} {value or _VALUES[name]}"
