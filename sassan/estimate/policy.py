"""Which warp a scheduler takes, of those that may issue."""

from enum import StrEnum


class Policy(StrEnum):
    """Of the names of `--policy`: `OLDEST` is what recorded runs come closest to (docs/developer/design/estimate.md)."""

    OLDEST = "oldest"
    GREEDY = "greedy"
    """The one that it took last, else the oldest."""
    ROUND_ROBIN = "round-robin"
