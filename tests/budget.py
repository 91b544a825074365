"""How much is drawn at random: a part of it by default, all of it with SASSAN_FULL=1 in the environment."""

import os

FULL = bool(os.environ.get("SASSAN_FULL"))


def part(count: int, of: int = 4) -> int:
    """Return `count` in a full run, else one in `of`."""
    return count if FULL else -(-count // of)
