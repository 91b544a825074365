"""`analyze`: from an input and what is known of its launch to the bounds of its kernels."""

from typing import Unpack, overload

from sassan.api.choices import Choices, checked, settings_of
from sassan.api.inputs import Origin
from sassan.api.kernels import Kernel, Kernels
from sassan.api.subjects import functions_of
from sassan.app import analysis
from sassan.ir import Function, Program


@overload
def analyze(subject: Function, *, file: str = ..., **choices: Unpack[Choices]) -> Kernel: ...
@overload
def analyze(subject: Program | Origin, *, function: str | None = ..., **choices: Unpack[Choices]) -> Kernels: ...
def analyze(
    subject: Function | Program | Origin,
    *,
    function: str | None = None,
    file: str = "",
    **choices: Unpack[Choices],
) -> Kernel | Kernels:
    """Return the bounds of one function, or of every function of a program or an input (of those that match `function`, a name or glob).

    `subject` is a `Function`, a `Program`, a path (`-`: standard input) or the content of a file as bytes; `file` is what results of a
    function call its input. `choices` are the keywords below. With `warps`, also the makespan of so many on one SM; with the block of
    `launch`, that of as many as are resident; with its grid, that of the grid, with its GPU in microseconds, too. A function with gaps has
    no bound and lists them, which is not an error. Numbers are cycles of the cost model, instructions for `unit`; the argument for each is
    in docs/proofs, what they rest on in `assumptions`.
    Raises InputError for an input or a table that is refused, UsageError for choices that contradict each other or a launch that is
    impossible, MissingToolError where nvdisasm or a compiler is needed and not installed, SelfCheckError for a defect of sassan.
    """
    settings = settings_of(checked(choices))
    name, functions = functions_of(subject, settings, function, file)
    kernels = tuple(Kernel(analysis.analyze(each, settings, name)) for each in functions)
    return kernels[0] if isinstance(subject, Function) else Kernels(name, kernels)
