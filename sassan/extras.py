"""The optional dependencies of sassan ("extras"), and the command that installs one."""

import re
from functools import lru_cache
from importlib import metadata

_MARKER = re.compile(r"extra == ['\"]([a-z]+)['\"]")


@lru_cache
def install(extra: str) -> str:
    """Return the command that installs an extra; it lists the packages, so that it works without sassan on an index."""
    try:
        required = metadata.requires("sassan") or []
    except metadata.PackageNotFoundError:
        required = []
    split = (line.partition(";") for line in required)
    packages = [package.strip() for package, _, marker in split if extra in _MARKER.findall(marker)]
    return f"pip install {' '.join(map(repr, packages))}" if packages else f"install sassan with its extra '{extra}'"
