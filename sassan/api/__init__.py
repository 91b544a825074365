"""What `import sassan` offers: programs in, kernels with their bounds, graphs and schedules out.

Everything here is frozen; errors are the classes of `sassan.errors`; what is not understood is a gap of its kernel, and no error.
"""

from sassan.api.advising import AdviceList, KernelAdvice, advise
from sassan.api.analyzing import Choices, LetterSet, ModelName, OrderName, analyze
from sassan.api.graphs import Graph, Level
from sassan.api.inputs import Origin, read
from sassan.api.kernels import Kernel, Kernels
from sassan.api.launching import Launch
from sassan.api.makespans import Makespan, makespan_of
from sassan.app.result import Loop

__all__ = [
    "AdviceList",
    "Choices",
    "Graph",
    "Kernel",
    "KernelAdvice",
    "Kernels",
    "Launch",
    "LetterSet",
    "Level",
    "Loop",
    "Makespan",
    "ModelName",
    "OrderName",
    "Origin",
    "advise",
    "analyze",
    "makespan_of",
    "read",
]
