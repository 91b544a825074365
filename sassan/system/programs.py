"""Programs that are installed: found in folders of the user's PATH and of a CUDA toolkit, in their order."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sassan.system.folders import open_to_all

_HOMES = ("CUDA_HOME", "CUDA_PATH")


def folders(variables: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the folders of PATH and those of a toolkit: whatever stands in the current folder is not an installed program."""
    known = os.environ if variables is None else variables
    yield from known.get("PATH", "").split(os.pathsep)
    yield from (str(Path(home) / "bin") for name in _HOMES if (home := known.get(name)))


def programs(name: str, places: Iterable[str]) -> Iterator[str]:
    """Yield the path of every program of a name; none in a folder with a relative name, and none that any user may exchange."""
    # Each folder by itself: the first may hold one that is too old, or too new, and a later one a suitable one.
    for place in places:
        path = shutil.which(name, path=place) if Path(place).is_absolute() else None
        if path is not None and not open_to_all(Path(path)):
            yield path
