"""What a user may choose about the exploration."""

from dataclasses import dataclass, replace

from sassan.domains.warp import ABLATIONS
from sassan.errors import UsageError

ARCH = "arch"
TAKEN_FIRST = "taken-first"
EITHER = "either"


@dataclass(frozen=True, slots=True)
class Options:
    """`order`: which side of a divergence runs first (`ARCH`: as the generation does); `call_depth` bounds the call strings (None: not).

    Raises UsageError for an order or an ablation that does not exist, or a negative depth.
    """

    ablate: frozenset[str] = frozenset()
    order: str = ARCH
    call_depth: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if self.order not in {ARCH, TAKEN_FIRST, EITHER}:
            raise UsageError("unknown-order", f"no order of divergent sides is called '{self.order}'", hint="arch, taken-first or either")
        if unknown := sorted(self.ablate - ABLATIONS):
            raise UsageError("unknown-ablation", f"nothing to ablate is called '{unknown[0]}'", hint=", ".join(sorted(ABLATIONS)))
        if self.call_depth is not None and self.call_depth < 0:
            raise UsageError("bad-call-depth", f"a call depth of {self.call_depth} means nothing", hint="0 or more")

    def of_generation(self, *, volta: bool) -> "Options":
        """Return the options with the order of the generation where none was chosen: until Pascal it is known, since Volta it is not."""
        return self if self.order != ARCH else replace(self, order=EITHER if volta else TAKEN_FIRST)
