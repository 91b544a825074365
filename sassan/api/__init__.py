"""What `import sassan` offers: programs in, kernels with their bounds, graphs and schedules out.

Everything here is frozen; errors are the classes of `sassan.errors`; what is not understood is a gap of its kernel, and no error.
"""

from sassan.api.analyzing import analyze
from sassan.api.checks import CheckOutcome, GateChoices, check
from sassan.api.choices import Choices, LetterSet, ModelName, OrderName
from sassan.api.diffs import BuildDifference, diff
from sassan.api.estimating import KernelEstimate, KernelEstimates, PolicyName, estimate
from sassan.api.graphs import Graph, Level
from sassan.api.inputs import Origin, read
from sassan.api.kernels import Kernel, Kernels
from sassan.api.launching import Launch
from sassan.api.makespans import Makespan, makespan_of
from sassan.api.memories import KernelMemories, KernelMemory, memory
from sassan.api.ranking import RankedSpace, rank
from sassan.api.recordings import RecordedLaunches, launches
from sassan.app.result import Loop

__all__ = [
    "BuildDifference",
    "CheckOutcome",
    "Choices",
    "GateChoices",
    "Graph",
    "Kernel",
    "KernelEstimate",
    "KernelEstimates",
    "KernelMemories",
    "KernelMemory",
    "Kernels",
    "Launch",
    "LetterSet",
    "Level",
    "Loop",
    "Makespan",
    "ModelName",
    "OrderName",
    "Origin",
    "PolicyName",
    "RankedSpace",
    "RecordedLaunches",
    "analyze",
    "check",
    "diff",
    "estimate",
    "launches",
    "makespan_of",
    "memory",
    "rank",
    "read",
]
