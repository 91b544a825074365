"""What a user may choose about the exploration."""

from dataclasses import dataclass

from sassan.domains.warp import ABLATIONS
from sassan.errors import UsageError

TAKEN_FIRST = "taken-first"
EITHER = "either"


@dataclass(frozen=True, slots=True)
class Options:
    """`order` says which side of a divergence runs first; `call_depth` bounds the call strings (None: as deep as the program calls).

    Raises UsageError for an order or an ablation that does not exist, or a negative depth.
    """

    ablate: frozenset[str] = frozenset()
    order: str = TAKEN_FIRST
    call_depth: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if self.order not in {TAKEN_FIRST, EITHER}:
            raise UsageError("unknown-order", f"no order of divergent sides is called '{self.order}'", hint="taken-first or either")
        if unknown := sorted(self.ablate - ABLATIONS):
            raise UsageError("unknown-ablation", f"nothing to ablate is called '{unknown[0]}'", hint=", ".join(sorted(ABLATIONS)))
        if self.call_depth is not None and self.call_depth < 0:
            raise UsageError("bad-call-depth", f"a call depth of {self.call_depth} means nothing", hint="0 or more")
