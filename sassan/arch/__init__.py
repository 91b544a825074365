"""SM architectures: one file for each SM and each generation (`data/`)."""

from sassan.arch.architecture import Architecture
from sassan.arch.facts import architecture, described, known_names, named, rows, unknown, with_code
from sassan.arch.files import FactRow, Rows, cached, further, names

__all__ = [
    "Architecture",
    "FactRow",
    "Rows",
    "architecture",
    "cached",
    "described",
    "further",
    "known_names",
    "named",
    "names",
    "rows",
    "unknown",
    "with_code",
]
