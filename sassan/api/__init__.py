"""What `import sassan` offers: programs in, kernels with their bounds, graphs and schedules out.

Everything here is frozen; errors are the classes of `sassan.errors`; what is not understood is a gap of its kernel, and no error.

What imports more than most callers use (estimates, recordings, limits, tuning spaces) is in modules of its own; `sassan` names all of it.
"""

from sassan.api.analyzing import analyze
from sassan.api.choices import Choices, LetterSet, ModelName, OrderName
from sassan.api.graphs import Graph, Level
from sassan.api.inputs import Origin, read
from sassan.api.kernels import Kernel, Kernels
from sassan.api.launching import Launch
from sassan.api.makespans import Makespan, makespan_of
from sassan.app.result import Loop

__all__ = [
    "Choices",
    "Graph",
    "Kernel",
    "Kernels",
    "Launch",
    "LetterSet",
    "Level",
    "Loop",
    "Makespan",
    "ModelName",
    "OrderName",
    "Origin",
    "analyze",
    "makespan_of",
    "read",
]
