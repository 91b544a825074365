"""sassan: static timing analysis of NVIDIA GPU machine code.

    import sassan

    kernels = sassan.analyze("kernels.cubin", loop_bound=10, warps=16)
    kernels["saxpy"].wcet, kernels["saxpy"].gaps        # bounds hold under .assumptions; without one, .gaps say why
    kernels["saxpy"].graph                              # a notebook draws it; .svg(), .save("x.pdf"), .to_networkx()
    sassan.makespan_of("L5C9L2C9", warps=8)             # the longest schedule of eight warps on one SM

    launch = sassan.Launch(gpu="T4", block=256, grid=4096, parameters={"n": 1 << 20})
    sassan.estimate("kernels.cubin", launch=launch)     # what to expect, and what binds it; also memory, launches, check, diff, rank

Nothing is imported before it is used. Errors are SassanError and its kinds; they say a code, a message and a hint.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sassan.api import Graph, Kernel, Kernels, Launch, Loop, Makespan, analyze, makespan_of, read
    from sassan.api.advising import AdviceList, KernelAdvice, advise
    from sassan.api.checks import CheckOutcome, check
    from sassan.api.diffs import BuildDifference, diff
    from sassan.api.estimating import KernelEstimate, KernelEstimates, estimate
    from sassan.api.memories import KernelMemories, KernelMemory, memory
    from sassan.api.ranking import RankedSpace, rank
    from sassan.api.recordings import RecordedLaunches, launches
    from sassan.errors import Gap, InputError, MissingToolError, SassanError, SelfCheckError, UsageError
    from sassan.ir import Function, Program

__version__ = "0.2.0"

__all__ = [
    "AdviceList",
    "BuildDifference",
    "CheckOutcome",
    "Function",
    "Gap",
    "Graph",
    "InputError",
    "Kernel",
    "KernelAdvice",
    "KernelEstimate",
    "KernelEstimates",
    "KernelMemories",
    "KernelMemory",
    "Kernels",
    "Launch",
    "Loop",
    "Makespan",
    "MissingToolError",
    "Program",
    "RankedSpace",
    "RecordedLaunches",
    "SassanError",
    "SelfCheckError",
    "UsageError",
    "__version__",
    "advise",
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

_PACKAGES = {
    "sassan.api.advising": ("AdviceList", "KernelAdvice", "advise"),
    "sassan.api.checks": ("CheckOutcome", "check"),
    "sassan.api.diffs": ("BuildDifference", "diff"),
    "sassan.api.estimating": ("KernelEstimate", "KernelEstimates", "estimate"),
    "sassan.api.memories": ("KernelMemories", "KernelMemory", "memory"),
    "sassan.api.ranking": ("RankedSpace", "rank"),
    "sassan.api.recordings": ("RecordedLaunches", "launches"),
    "sassan.errors": ("Gap", "InputError", "MissingToolError", "SassanError", "SelfCheckError", "UsageError"),
    "sassan.ir": ("Function", "Program"),
}
"""Where a public name lives; the others are in `sassan.api`."""


if not TYPE_CHECKING:  # a checker of types that saw it would take every misspelt name for an object

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module 'sassan' has no attribute '{name}'", name=name, obj=None)
        from importlib import import_module  # noqa: PLC0415 - `sassan --help` answers in a blink

        package = next((package for package, names in _PACKAGES.items() if name in names), "sassan.api")
        value: object = getattr(import_module(package), name)
        globals()[name] = value
        return value

    class _PublicModule(ModuleType):
        """The class of this module, in which public names are what `__all__` says.

        An import of a package sets it as an attribute of the package that it lies in: that of `sassan.estimate` is not to replace the
        function of this name. `from sassan.estimate import …` finds the package as ever.
        """

        def __setattr__(self, name: str, value: object) -> None:
            if name not in __all__ or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _PublicModule


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
