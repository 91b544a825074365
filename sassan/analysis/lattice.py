"""The contract of every abstract domain.

A domain object is the algebra and holds the context; values are frozen data with structural equality, one spelling per value.

Laws, tested for every domain in `tests/laws/test_domains.py`:

* of every `PreorderedDomain`: `leq` is reflexive and transitive; `bottom` is below everything and neutral for `join`; `join` is above both,
  commutative and idempotent; `explain(a, b)` is '' exactly when `leq(a, b)`;
* of a `Lattice` besides: `leq` is antisymmetric; `join` is the least of the upper bounds that the domain can express, and associative;
  `leq(a, b)` exactly when `join(a, b) == b`;
* where a domain can widen: `widen(a, b)` is above both, and repeating it ends.

The fixpoint engine takes a `Lattice`. A domain that promises less (strided intervals on the circle of words) says so by its place in the
list of the law suite; an analysis that uses it bounds its own number of steps.
"""

from typing import Protocol, TypeVar, runtime_checkable

V = TypeVar("V")


class PreorderedDomain(Protocol[V]):
    """What the law suite knows of a domain whose joins are upper bounds, not always the least."""

    @property
    def bottom(self) -> V:
        """The value that stands for no concrete state."""
        ...

    def leq(self, a: V, b: V) -> bool:
        """Say whether every concrete state of `a` is one of `b`."""
        ...

    def join(self, a: V, b: V) -> V:
        """Return a value above both."""
        ...

    def explain(self, a: V, b: V) -> str:
        """Return why `leq(a, b)` is false, '' when it holds."""
        ...


class Lattice(PreorderedDomain[V], Protocol[V]):
    """What the fixpoint engine knows of a domain: the same operations, with the stronger laws, so that its joins are the least."""


@runtime_checkable
class Widening(Protocol[V]):
    """What a domain with infinite ascending chains offers besides."""

    def widen(self, a: V, b: V) -> V:
        """Return a value above both, `a` being the former one; any chain of widenings is finite."""
        ...
