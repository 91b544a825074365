"""Which of several functions of one name is meant: the end of the path of its file that no other of them has."""

import re
from collections import defaultdict
from collections.abc import Sequence

_SEPARATOR = re.compile(r"([/\\])")


def ends(functions: Sequence[tuple[str, str]]) -> list[str]:
    """Return, for each function (its name, its file), the shortest end of the file that tells it from others; empty where nothing has to.

    Functions of one name in one file stay alike: their architectures tell them apart.
    """
    files: defaultdict[str, set[str]] = defaultdict(set)
    for name, file in functions:
        files[name].add(file)
    known = {name: _shortest(several) for name, several in files.items() if len(several) > 1}
    return [known[name][file] if name in known else "" for name, file in functions]


def _shortest(files: set[str]) -> dict[str, str]:
    """Return the shortest end of each of these, in whole parts, that none of the others ends in; all of it where there is none."""
    found: dict[str, str] = {}
    left = {file: _SEPARATOR.split(file) for file in files}
    size = 1
    while left:
        # Every second part is a separator.
        here = {file: "".join(parts[-size:]) for file, parts in left.items()}
        alike: defaultdict[str, int] = defaultdict(int)
        for end in here.values():
            alike[end] += 1
        done = {file: end for file, end in here.items() if alike[end] == 1 or size >= len(left[file])}
        found |= done
        left = {file: parts for file, parts in left.items() if file not in done}
        size += 2
    return found
