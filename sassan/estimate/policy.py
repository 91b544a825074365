"""Which warp a scheduler takes, of those that may issue."""

from enum import StrEnum


class Policy(StrEnum):
    """A value of `--policy`; estimates by `OLDEST` are closest to recorded runs (docs/developer/design/estimate.md)."""

    OLDEST = "oldest"
    GREEDY = "greedy"
    """The one that it took last, else the oldest."""
    ROUND_ROBIN = "round-robin"
