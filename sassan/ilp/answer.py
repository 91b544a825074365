"""What a solver says of a model, before anything of it is checked."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sassan.ilp.basis import Basis


class Status(StrEnum):
    """What is known after solving: only OPTIMAL comes with a value."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """`values` per variable, `multipliers` per row of a relaxation; empty where the solver has none.

    A multiplier is what the maximum gains per unit of the right-hand side: not negative on `<=` rows, not positive on `>=` rows.
    `basis` returns that in which a relaxation ended, if it is a valid one; None where the solver names none.
    """

    status: Status
    values: tuple[float, ...] = ()
    multipliers: tuple[float, ...] = ()
    basis: Callable[[], Basis | None] | None = None
