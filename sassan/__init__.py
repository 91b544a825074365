"""sassan: static timing analysis of NVIDIA GPU machine code.

    import sassan

    kernels = sassan.analyze("kernels.cubin", loop_bound=10, warps=16)
    kernels["saxpy"].wcet, kernels["saxpy"].gaps        # bounds hold under .assumptions; without one, .gaps say why
    kernels["saxpy"].graph                              # a notebook draws it; .svg(), .save("x.pdf"), .to_networkx()
    sassan.makespan_of("L5C9L2C9", warps=8)             # the longest schedule of eight warps on one SM

Nothing is imported before it is used. Errors are SassanError and its kinds; they say a code, a message and a hint.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sassan.api import (
        AdviceList,
        Graph,
        Kernel,
        KernelAdvice,
        Kernels,
        Launch,
        Loop,
        Makespan,
        advise,
        analyze,
        makespan_of,
        read,
    )
    from sassan.errors import Gap, InputError, MissingToolError, SassanError, SelfCheckError, UsageError
    from sassan.ir import Function, Program

__version__ = "0.2.0"

__all__ = [
    "AdviceList",
    "Function",
    "Gap",
    "Graph",
    "InputError",
    "Kernel",
    "KernelAdvice",
    "Kernels",
    "Launch",
    "Loop",
    "Makespan",
    "MissingToolError",
    "Program",
    "SassanError",
    "SelfCheckError",
    "UsageError",
    "__version__",
    "advise",
    "analyze",
    "makespan_of",
    "read",
]

_PACKAGES = {
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


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
