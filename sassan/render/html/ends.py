"""The distinction of functions with the same name: the end of the path of each file that none of the others has."""

import re
from collections import defaultdict
from collections.abc import Sequence

_SEPARATOR = re.compile(r"([/\\])")


def ends(functions: Sequence[tuple[str, str]]) -> list[str]:
    """Return, for each function (name, file), the shortest end of its file that distinguishes it from others; '' for a unique name.

    Functions of one name in one file are not distinguished: their architectures differ.
    """
    files: defaultdict[str, set[str]] = defaultdict(set)
    for name, file in functions:
        files[name].add(file)
    suffixes = {name: _shortest(paths) for name, paths in files.items() if len(paths) > 1}
    return [suffixes[name][file] if name in suffixes else "" for name, file in functions]


def _shortest(files: set[str]) -> dict[str, str]:
    """Return the shortest end of each path, in whole parts, that none of the others has; the whole path if there is none."""
    shortest: dict[str, str] = {}
    left = {file: _SEPARATOR.split(file) for file in files}
    size = 1
    while left:
        # Every second part is a separator.
        candidates = {file: "".join(parts[-size:]) for file, parts in left.items()}
        alike: defaultdict[str, int] = defaultdict(int)
        for end in candidates.values():
            alike[end] += 1
        unique = {file: end for file, end in candidates.items() if alike[end] == 1 or size >= len(left[file])}
        shortest |= unique
        left = {file: parts for file, parts in left.items() if file not in unique}
        size += 2
    return shortest
