"""The contract of every abstract domain.

A domain object is the algebra and holds the context; values are frozen data with structural equality, one spelling per value.

Laws, tested for every domain in `tests/laws/test_domains.py`: `leq` is a partial order; `bottom` is below everything; `join` is the least
of the upper bounds that the domain can express, commutative, associative and idempotent; `leq(a, b)` exactly when `join(a, b) == b`;
`explain(a, b)` is '' exactly when `leq(a, b)`. Where a domain can widen: `widen(a, b)` is above both, and repeating it ends.
"""

from typing import Protocol, TypeVar, runtime_checkable

V = TypeVar("V")


class Lattice(Protocol[V]):
    """What the fixpoint engine and the law suite know of a domain."""

    @property
    def bottom(self) -> V:
        """The value that stands for no concrete state."""
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


@runtime_checkable
class Widening(Protocol[V]):
    """What a domain with infinite ascending chains offers besides."""

    def widen(self, a: V, b: V) -> V:
        """Return a value above both, `a` being the former one; any chain of widenings is finite."""
        ...
