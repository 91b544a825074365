"""The contract of every abstract domain, on one page (style.md, habit 1).

A domain object is the algebra and holds the context; values are frozen data with structural equality, one spelling per value.

Laws, tested for every domain in `tests/laws/`: `leq` is a partial order; `bottom` is below everything; `join` is the least of the
upper bounds that the domain can express, commutative, associative and idempotent; `leq(a, b)` exactly when `join(a, b) == b`;
`explain(a, b)` is '' exactly when `leq(a, b)`.
"""

from collections.abc import Iterator
from typing import Protocol, TypeVar

V = TypeVar("V")


class Lattice(Protocol[V]):
    """What the fixpoint engine and the law suite know of a domain."""

    @property
    def bottom(self) -> V:
        """Return the value that stands for no concrete state."""
        ...

    def leq(self, a: V, b: V) -> bool:
        """Say whether every concrete state of `a` is one of `b`."""
        ...

    def join(self, a: V, b: V) -> V:
        """Return the least value above both."""
        ...

    def explain(self, a: V, b: V) -> str:
        """Return why `leq(a, b)` is false, '' when it holds."""
        ...


def bits(mask: int) -> Iterator[int]:
    """Yield the indices of the set bits, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
