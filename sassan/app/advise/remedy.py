"""What a remedy is, and what it gains."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from sassan.app.estimating import Prepared
from sassan.app.result import AnalysisResult
from sassan.estimate.answer import LaunchEstimate
from sassan.estimate.policy import Policy


class AdviceCode(StrEnum):
    """The kinds of remedies; these names are stable."""

    COALESCE = "coalesce"
    BANK_CONFLICT = "bank-conflict"
    VECTORIZE = "vectorize"
    OCCUPANCY = "occupancy"
    BLOCK_SIZE = "block-size"
    TAIL = "tail"
    PIPELINE = "pipeline"
    UNROLL = "unroll"
    DIVERGENCE = "divergence"
    CHEAPER_OPERATION = "cheaper-operation"
    ASYNC_COPY = "async-copy"
    CLUSTER = "cluster"
    SPILL = "spill"
    LOCAL_MEMORY = "local-memory"
    ATOMICS = "atomics"
    REUSE = "reuse"


@dataclass(frozen=True, slots=True)
class LaunchedKernel:
    """A launch that has an estimate, `known`, with what the estimate was made of."""

    result: AnalysisResult
    prepared: Prepared
    known: LaunchEstimate
    policy: Policy = Policy.OLDEST


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of a kernel or of its launch; `changed` is what the estimate takes then.

    `places` are the addresses of the instructions that change, none for a change of the launch. `why` says what is wrong, with its
    figures; `sure` on what the gain rests, after one of the words certain, likely, upper limit; `example` shows the change as CUDA C++.
    Of several with one code and the same places, the one that gains most is advised.
    """

    code: AdviceCode
    places: tuple[int, ...]
    why: str
    changed: Prepared
    sure: str
    example: str


RemedyFamily = Callable[[LaunchedKernel], Iterable[Remedy]]
"""What finds the remedies of one family for a launch."""


@dataclass(frozen=True, slots=True)
class Advice:
    """A remedy that was tried: with it, a launch takes `us`, `gain` less than without; both in microseconds."""

    remedy: Remedy
    us: float
    gain: float
