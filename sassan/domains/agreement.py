"""For each group of threads, the registers on which any two of its threads hold the same value (Jeanmougin et al. 2023, section 3.3).

Registers are bits of an int, groups are named as in `domains.groups`. Where a group stands for several masks (a point on a cycle), each
mask agrees by itself. A name that a value does not hold stands for the empty group, which agrees on everything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.domains.bits import bits


@dataclass(frozen=True, slots=True)
class Agreement:
    """`on[a]` is the set of registers on which group `a` agrees."""

    on: Mapping[int, int] = field(default_factory=dict[int, int])


class AgreementDomain:
    """The lattice of agreements: fewer registers and more names are higher."""

    bottom = Agreement()

    def leq(self, a: Agreement, b: Agreement) -> bool:
        """Say whether `a` agrees on all that `b` agrees on, group by group."""
        other = b.on
        for name, registers in a.on.items():
            if name not in other:
                return False
            if other[name] & ~registers:
                return False
        return True

    def join(self, a: Agreement, b: Agreement) -> Agreement:
        """Return what both agree on."""
        on = dict(a.on)
        for name, registers in b.on.items():
            on[name] = on[name] & registers if name in on else registers
        return Agreement(on)

    def explain(self, a: Agreement, b: Agreement) -> str:
        """Return the first register on which `b` agrees and `a` does not."""
        for name, registers in sorted(a.on.items()):
            if name not in b.on:
                return f"group {name} is empty on the right"
            for register in bits(b.on[name] & ~registers):
                return f"group {name} on register bit {register}"
        return ""
