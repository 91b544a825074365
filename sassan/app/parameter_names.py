"""What the source calls the parameters of kernels, where the input keeps no names: of builds with -lineinfo whose source lies beside them.

A kernel's names are those of the one definition of its name whose lines its code was compiled from, in a file of the name that the line
information has. A definition with another number of parameters, or of other sizes, gives none.
"""

from collections.abc import Sequence
from dataclasses import replace

from sassan.app.sources import Sources, base
from sassan.compilers.signatures import KernelDefinition, NamedParameter, kernels
from sassan.ir import Function, Parameter, Program
from sassan.names import brief


def with_source_names(program: Program, sources: Sources) -> Program:
    """Return the program with the parameters of its kernels named as in the source, where that is there."""
    known: dict[str, tuple[KernelDefinition, ...]] = {}
    return replace(program, functions=tuple(_with_names(function, sources, known) for function in program.functions))


def _with_names(function: Function, sources: Sources, known: dict[str, tuple[KernelDefinition, ...]]) -> Function:
    facts = function.compiler
    if facts is None or not facts.parameters or any(parameter.name for parameter in facts.parameters) or not function.kernel:
        return function
    lines: dict[str, set[int]] = {}
    for each in function.lines:
        lines.setdefault(base(each.file), set()).add(each.line)
    for file in lines:
        if file not in known:
            known[file] = kernels("\n".join(sources.lines(file)))
    name = brief(function.name).partition("<")[0].rpartition("::")[2]
    meant = [
        definition
        for file, numbers in lines.items()
        for definition in known[file]
        if definition.name == name and any(definition.first <= number <= definition.last for number in numbers)
    ]
    return named(function, meant[0].parameters or ()) if len(meant) == 1 else function


def named(function: Function, names: Sequence[NamedParameter], *, further: bool = False) -> Function:
    """Return a kernel with these names of its parameters, in order; without, where they do not fit.

    `further`: the compiler may have added parameters behind them.
    """
    facts = function.compiler
    ordered = sorted(facts.parameters, key=lambda parameter: parameter.ordinal) if facts is not None else []
    if facts is None or not _fits(ordered, names, further=further):
        return function
    several = [replace(parameter, name=each.name) for parameter, each in zip(ordered, names, strict=False)]
    return replace(function, compiler=replace(facts, parameters=(*several, *ordered[len(several) :])))


def _fits(ordered: Sequence[Parameter], names: Sequence[NamedParameter], *, further: bool) -> bool:
    enough = len(names) <= len(ordered) if further else len(names) == len(ordered)
    counted = [parameter.ordinal for parameter in ordered] == list(range(len(ordered)))
    sizes = all(each.size in (0, parameter.size) for parameter, each in zip(ordered, names, strict=False))
    return enough and counted and sizes and len({each.name for each in names}) == len(names)
