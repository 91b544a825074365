"""Names of functions as the source has them: C++ names demangled, by the demangler of LLVM (Itanium C++ ABI, 5.1).

A mangled name may refer to its own parts, so that a short one stands for a text of any length: one with many references is demangled by a
child process with limits. What cannot be demangled keeps its name.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from sassan.system.processes import finish

_LONGEST = 65_536
"""Characters of a mangled name, and of what it stands for."""
_REFERENCE = re.compile(r"[ST][0-9A-Z]*_")
_FEW = 40
"""References with which a name stands for a megabyte at most: so many make 4 parts of 3 or 5 of 4 references grow in every step."""
_SECONDS, _MEMORY = 5, 1 << 30
_CHILD = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
from pydemumble import demangle
sys.stdout.write(demangle(sys.stdin.read())[:{_LONGEST + 1}])
"""
_NUMBER_BEGUN, _NUMBER_GOES_ON = re.compile(r"[0-9][0-9.,]*$"), re.compile(r"[.,]?[0-9]")
_NUMBER_ENDS, _IN_NUMBERS = re.compile(r"[0-9.,]+"), frozenset("0123456789.,")
_LEAST = 8
"""Characters that are shown at least of what long names have in common."""
_WORDS = re.compile(r"[0-9]+|[^\W0-9]{1,12}|\W")
_STATIC = re.compile(r"__nv_static_([0-9]{1,6})_")
"""The begin of the name of a kernel that only one file sees: behind it, so many characters name the file."""
_TOKEN = re.compile(r"(?<![\w./-])_Z[A-Za-z0-9_]+(?![\w/-]|\.\w)")


@lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """Return the declaration that a mangled name stands for, the name itself where it is not a mangled name.

    Of a kernel that only one file sees (`static`), without what nvcc puts before its name: `__nv_static_7__ab_1_f__Z1kv` is `k()`.
    """
    if (static := _STATIC.match(name)) is not None and name[static.end() + int(static[1]) :].startswith("_"):
        return demangled(name[static.end() + int(static[1]) + 1 :]) or name
    if not name.startswith("_Z") or len(name) > _LONGEST or not name.isascii() or not name.isprintable():
        return name
    if len(_REFERENCE.findall(name)) <= _FEW:
        from pydemumble import demangle  # noqa: PLC0415 - start-up

        known: str = demangle(name)
        return known or name
    return _apart(name) or name


def _apart(name: str) -> str:
    """Return the declaration from a child process, '' where it is too long or takes too long."""
    if sys.platform != "linux":
        return ""
    try:
        command = [sys.executable, "-P", "-c", _CHILD]  # -P: the current folder is not searched
        done = finish(command, program=len(command), given=name.encode(), seconds=_SECONDS, size=_LONGEST)
    except OSError:
        return ""
    return done.output.decode() if done.status == 0 and not done.late and len(done.output) <= _LONGEST else ""


def visible(text: str) -> str:
    r"""Return `text` with every unprintable character spelled out: a newline as `\n`, a right-to-left override as `\u202e`."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else character.encode("unicode_escape").decode("ascii") for character in text)


def readable(name: str) -> str:
    """Return a name as it is shown: that of the source, with template arguments and parameters, without the `void` before it."""
    return demangled(name).removeprefix("void ")


def brief(name: str) -> str:
    """Return a name without its parameters, where it has some: template arguments remain."""
    shown = readable(name)
    if shown == name or not shown.endswith(")"):
        return shown
    depth = 0
    for place in range(len(shown) - 1, -1, -1):
        depth += (shown[place] == ")") - (shown[place] == "(")
        if depth == 0:
            return shown[:place] or shown
    return shown


def beginning(text: str, end: int) -> str:
    """Return the beginning of a text up to `end`, without the beginning of a number that goes on there."""
    return _NUMBER_BEGUN.sub("", text[:end]) if _NUMBER_GOES_ON.match(text, end) else text[:end]


def middle(text: str, width: int) -> str:
    """Return `text` when it fits into `width` characters, else its beginning and end without parts of numbers: names differ in both."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 3
    start = len(text) - tail
    end = _NUMBER_ENDS.match(text, start) if text[start - 1] in _IN_NUMBERS else None
    return f"{beginning(text, width - 1 - tail)}…{text[end.end() if end else start :]}"


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Return how each of several names is shown in about `width` characters, different ones by different texts.

    What is too long loses its parameters first, then its middle; names that would look the same then are shown by where they differ.
    """
    whole = {name: readable(name) for name in names}
    short = {name: text if len(text) <= width else middle(brief(name), width) for name, text in whole.items()}
    for text in [text for text, count in Counter(short.values()).items() if count > 1]:
        alike = [name for name, shown in short.items() if shown == text]
        short |= dict(zip(alike, _where_different([whole[name] for name in alike], width), strict=True))
    counts = Counter(short.values())
    return {name: text if counts[text] == 1 else whole[name] for name, text in short.items()}


def _where_different(texts: Sequence[str], width: int) -> list[str]:
    """Return different texts as their common beginning, as far as there is space, and all words in which they differ."""
    words = [_WORDS.findall(text) for text in texts]
    start = _common(words)
    end = _common([each[start:][::-1] for each in words])
    if len({len(each) for each in words}) == 1:
        differ = [len(set(several)) > 1 for several in zip(*words, strict=True)]
        parts = [_parts([word if shown else "" for word, shown in zip(each, differ, strict=True)][start:]) for each in words]
    else:
        parts = [_parts([*each[start : len(each) - end], *[""] * end]) for each in words]
    begun, space = "".join(words[0][:start]), max(width - max(map(len, parts)), _LEAST)
    lead = begun if len(begun) <= space else begun[: space - 1] + "…"
    return [lead + part for part in parts]


def _common(words: Sequence[Sequence[str]]) -> int:
    """Return how many words at the beginning are the same everywhere."""
    least = min(map(len, words))
    return next((at for at in range(least) if len({each[at] for each in words}) > 1), least)


def _parts(words: Sequence[str]) -> str:
    """Return words in order, an ellipsis for those that are omitted ('')."""
    return "".join(word or ("…" if at == 0 or words[at - 1] else "") for at, word in enumerate(words))


def spellings(name: str) -> tuple[str, ...]:
    """Return every spelling of a name that a user may choose it by: as it is, demangled, without parameters, without template arguments."""
    short = brief(name)
    return tuple(dict.fromkeys((name, demangled(name), readable(name), short, short.partition("<")[0] or short)))


def in_text(text: str) -> str:
    """Return a message with the mangled names in it as they are shown; what is part of a path stays."""
    return _TOKEN.sub(lambda match: readable(match[0]), text) if "_Z" in text else text
