"""The functions of what a caller hands over: a function, a program, a file, or the content of one."""

from sassan.api import checking
from sassan.api.inputs import Origin, chosen, read_for
from sassan.app.inputs import Inputs, SelectedFunction, check_settings
from sassan.app.settings import Settings
from sassan.ir import Function, Program

Subject = Function | Program | Origin
"""What a caller may ask about."""


def functions_of(subject: Subject, settings: Settings, pattern: str | None, file: str) -> tuple[str, tuple[Function, ...]]:
    """Return the name of an input and its functions whose name matches `pattern`, a name or glob (None: all).

    CUDA source is compiled for the GPU of the settings. `file` is the name of a single function's input. Raises what `read` raises, and
    UsageError for settings that do not fit the functions.
    """
    if isinstance(subject, Function):
        check_settings(settings, (subject,), (subject,), partial=True)
        return checking.text("file", file), (subject,)
    target = settings.machine.sm.arch if settings.machine is not None else None
    program = subject if isinstance(subject, Program) else read_for(subject, target)
    functions = chosen(program, pattern)
    check_settings(settings, program.functions, functions)
    return program.name, functions


def inputs_of(subject: Subject, settings: Settings, pattern: str | None, file: str = "") -> Inputs:
    """Return the same as inputs of a request; raises what `functions_of` raises."""
    name, functions = functions_of(subject, settings, pattern, file)
    return Inputs(tuple(SelectedFunction(name, function) for function in functions))
