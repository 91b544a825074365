"""Which registers a thread may still read: sets as bits of an int (`isa/registers`), joined by union."""

from dataclasses import dataclass

from sassan.domains.bits import bits


@dataclass(frozen=True, slots=True)
class LiveDomain:
    """The sets of registers that are live, ordered by inclusion: a register more is always safe."""

    @property
    def bottom(self) -> int:
        """Nothing is read any more."""
        return 0

    def leq(self, a: int, b: int) -> bool:
        """Say whether every register of `a` is one of `b`."""
        return not a & ~b

    def join(self, a: int, b: int) -> int:
        """Return the registers of both."""
        return a | b

    def explain(self, a: int, b: int) -> str:
        """Return a register of `a` that is not in `b`, '' where there is none."""
        return next((f"register bit {number} is live" for number in bits(a & ~b)), "")
