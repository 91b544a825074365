"""Names of kernel parameters from CUDA C++: every `__global__ void name(parameters) { … }` of a source, with its lines.

No preprocessor runs, and nothing is parsed but heads of kernels: a head that is not read for certain yields no names. Which definition a
kernel was compiled from is known by the lines that a build with -lineinfo names.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"//(?:\\\r?\n|[^\n])*|/\*.*?\*/|^[ \t]*\#(?:\\\r?\n|[^\n])*"
    r"|R\"(?P<raw>[^()\s\\]{0,16})\(.*?\)(?P=raw)\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|(?P<token>[A-Za-z_]\w*|[0-9][\w.']*|::|\S)",
    re.DOTALL | re.MULTILINE,
)
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}", "<": ">"}, frozenset(")]}>")
_ATTRIBUTES = frozenset(
    {
        "__launch_bounds__",
        "__attribute__",
        "__align__",
        "__maxnreg__",
        "__cluster_dims__",
        "__block_size__",
        "alignas",
        "decltype",
        "noexcept",
    }
)
"""Words before a group in parentheses that is not a list of parameters."""
_QUALIFIERS = frozenset(
    {"const", "volatile", "restrict", "__restrict__", "__restrict", "__grid_constant__", "struct", "class", "enum", "union", "typename"}
)
_TYPES = frozenset({"void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto"})
_BYTES = {4: {"int", "float", "int32_t", "uint32_t"}, 8: {"double", "size_t", "int64_t", "uint64_t"}}
"""Sizes of types that are the same on every system, where their name is all of the type."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_POINTER = 8


@dataclass(frozen=True, slots=True)
class NamedParameter:
    """A parameter of the source; `size` in bytes, 0 where the type does not say it for certain."""

    name: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class KernelDefinition:
    """The definition of a kernel in lines `first` to `last`; `parameters` is None where they are not read for certain."""

    name: str
    first: int
    last: int
    parameters: tuple[NamedParameter, ...] | None


def kernels(text: str) -> tuple[KernelDefinition, ...]:
    """Return the definitions of kernels in CUDA C++."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    places = [(match["token"], match.start("token")) for match in _TOKEN.finditer(text) if match["token"]]
    words = [word for word, _ in places]

    def line(place: int) -> int:
        return bisect_right(starts, places[place][1])

    out: list[KernelDefinition] = []
    for place in (place for place, word in enumerate(words) if word == "__global__"):
        head = _head(words, place + 1)
        if head is None:
            continue
        name, opens, body = head
        out.append(
            KernelDefinition(name, line(place), line(_behind(words, body) - 1), _parameters(words[opens + 1 : _behind(words, opens) - 1]))
        )
    return tuple(out)


def _head(words: Sequence[str], at: int) -> tuple[str, int, int] | None:
    """Return the name of a kernel, the place at which its parameters begin and that of its body; None for a declaration."""
    name = ""
    while at < len(words) and words[at] not in (";", "{", "}"):
        word = words[at]
        if word == "<" and name:
            at = _behind(words, at)
            continue
        if word == "(" and name in _ATTRIBUTES:
            at, name = _behind(words, at), ""
            continue
        if word == "(":
            body = _behind(words, at)
            return (name, at, body) if name and words[body : body + 1] == ["{"] else None
        name = word if _WORD.fullmatch(word) else ""
        at += 1
    return None


def _behind(words: Sequence[str], at: int) -> int:
    """Return the place behind the group that opens at one; angle brackets are a group where they open it."""
    closes, opens = _OPEN[words[at]], words[at]
    depth = 0
    for place in range(at, len(words)):
        depth += (words[place] == opens) - (words[place] == closes)
        if depth == 0:
            return place + 1
    return len(words)


def _parameters(words: Sequence[str]) -> tuple[NamedParameter, ...] | None:
    several = [_parameter(words_of_one) for words_of_one in _split(words)]
    known = [each for each in several if each is not None]
    return tuple(known) if len(known) == len(several) and len({each.name for each in known}) == len(known) else None


def _split(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the words of each parameter."""
    if list(words) in ([], ["void"]):
        return
    depth, part = 0, list[str]()
    for word in words:
        depth += (word in _OPEN) - (word in _CLOSE)
        if word == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _parameter(words: Sequence[str]) -> NamedParameter | None:
    """Return the parameter that these words declare, None for one without a name, or of a form that is not read."""
    rest = list(words[: words.index("=")] if "=" in words else words)
    array = "[" in rest
    if array:
        rest = rest[: rest.index("[")]
    if "(" in rest:
        at = rest.index("(")
        if at == 0 or rest[at - 1] not in _ATTRIBUTES:
            return None
        rest[at - 1 : _behind(rest, at)] = []
    if len(rest) < 2 or "(" in rest or not _WORD.fullmatch(rest[-1]) or rest[-1] in _TYPES | _QUALIFIERS:  # noqa: PLR2004 - type and name
        return None
    kind = [word for word in rest[:-1] if word not in _QUALIFIERS]
    if not kind or kind[-1] == "::":
        return None
    return NamedParameter(rest[-1], _POINTER if array or kind[-1] in ("*", "&") else _size(kind))


def _size(kind: Sequence[str]) -> int:
    word = " ".join(kind).removeprefix("std :: ").removeprefix("unsigned ").removeprefix("signed ").replace("unsigned", "int")
    return next((size for size, names in _BYTES.items() if word in names), 0)
