"""From a module to `ir.Function`: each function followed by the device functions that it calls, as the compiler would place them."""

import re
from collections.abc import Iterator

from sassan.errors import InputError
from sassan.frontend.link import DEPTH
from sassan.frontend.ptx.build import Text
from sassan.frontend.ptx.declarations import block_limit, cluster
from sassan.frontend.ptx.lower import STEP, Body, LoweringContext
from sassan.frontend.ptx.scopes import Numbers, ScopeNames, instructions
from sassan.frontend.ptx.syntax import Directive, FunctionDeclaration, Header, Identifier, Module, OperandTuple, VariableDeclaration
from sassan.ir import Declared, Function, Language

ALIGN = 0x1000
"""Callees start at multiples of this, as sections do in `frontend/link.py`."""
_FILE = re.compile(r'\.file ([0-9]{1,9}) "([^"\n]*)"')


class Linker:
    """Builds the functions of one module; `arch` is that of its `.target`, or the one that overrides it."""

    def __init__(self, text: Text, module: Module, arch: str) -> None:
        """Collect the declarations of the module; raises InputError."""
        self._text, self._arch = text, arch
        self._functions: dict[str, FunctionDeclaration] = {}
        self._names = ScopeNames()
        directives = (_FILE.match(item.text) for item in module.items if isinstance(item, Directive))
        self._files = {int(match[1]): match[2] for match in directives if match is not None}
        for item in module.items:
            if isinstance(item, FunctionDeclaration):
                self._add(item)
            elif isinstance(item, VariableDeclaration):
                self._declare(item)
            elif isinstance(item, Header) and item.keyword == ".alias":
                self._alias(item)
        self._devices = [
            name
            for name, function in self._functions.items()
            if function.body is not None and not function.kernel and name == function.name
        ]

    def functions(self) -> Iterator[Function]:
        """Yield every function that has a body, in order of the text; raises InputError."""
        for name, function in self._functions.items():
            if function.body is not None and name == function.name:
                yield self._link(function)

    def _add(self, function: FunctionDeclaration) -> None:
        earlier = self._functions.get(function.name)
        if earlier is not None and earlier.body is not None and function.body is not None:
            raise InputError(
                "duplicate-name",
                f"two functions are called '{function.name}'",
                source=self._text.source,
                span=function.span,
                hint="remove one of them",
            )
        if earlier is None or function.body is not None:
            self._functions[function.name] = function

    def _alias(self, directive: Header) -> None:
        """Bind the name of an `.alias` to its function."""
        name, target = directive.words
        function = self._functions.get(target)
        if function is None or function.body is None:
            raise InputError(
                "undeclared-name",
                f"'{target}' has no body; expected a function that '{name}' can be an alias of",
                source=self._text.source,
                span=directive.span,
                hint="ptxas refuses it, too",
            )
        self._functions[name] = function

    def _declare(self, variable: VariableDeclaration) -> None:
        if variable.space == ".reg":
            raise InputError(
                "syntax",
                "a register is declared outside of a function; expected .global, .const, .shared or .extern",
                source=self._text.source,
                span=variable.names[0].span,
                hint="declare it in the function that uses it",
            )
        # An .extern one may be declared again.
        list(self._names.declare(variable, Numbers(), frozenset()))

    def _link(self, first: FunctionDeclaration) -> Function:
        order, indirect = self._reached(first)
        starts: dict[str, int] = {}
        at = 0
        for function in order:
            starts[function.name] = at
            size = _size(function)
            at += -(-size // ALIGN) * ALIGN
        context = LoweringContext(
            self._names, {name: (function.name, starts.get(function.name)) for name, function in self._functions.items()}, self._files
        )
        callees = tuple(sorted(starts[name] for name in self._devices if name in starts)) if indirect else ()
        numbers = Numbers()
        parts = [Body(self._text, function, context, numbers, starts[function.name]).part() for function in order]
        return Function(
            first.name,
            self._arch,
            tuple(function for part in parts for function in part.code),
            symbols=tuple((part.frame.start, part.frame.name) for part in parts),
            span=first.span,
            kernel=first.kernel,
            callees=callees if callees and len(callees) == len(self._devices) else None,
            language=Language.PTX,
            frames=tuple(part.frame for part in parts),
            lines=tuple(line for part in parts for line in part.lines),
            declared=Declared(cluster=cluster(first), block=block_limit(first)),
        )

    def _reached(self, first: FunctionDeclaration) -> tuple[list[FunctionDeclaration], bool]:
        """Return a function and all that it may call, to `DEPTH`, in order of discovery, and whether there is a call through a register."""
        order, depths, indirect = [first], {first.name: 0}, False
        for function in order:
            called = list(self._called(function))
            indirect = indirect or "" in called
            for name in (*called, *(self._devices if indirect else ())):
                callee = self._functions.get(name)
                if callee is not None and callee.body is not None and callee.name not in depths and depths[function.name] < DEPTH:
                    depths[callee.name] = depths[function.name] + 1
                    order.append(callee)
        return order, indirect

    def _called(self, function: FunctionDeclaration) -> Iterator[str]:
        """Yield the names of the functions that one calls, '' for a call through a register."""
        statements = function.body.statements if function.body else ()
        for instruction in instructions(statements):
            if instruction.opcode.partition(".")[0] == "call":
                callee = next(
                    (operand for operand in instruction.operands if not (isinstance(operand, OperandTuple) and operand.opening == "(")),
                    None,
                )
                name = callee.text if isinstance(callee, Identifier) else ""
                yield name if name in self._functions else ""


def _size(function: FunctionDeclaration) -> int:
    """Return the bytes of a function, with a return that its text may omit."""
    statements = function.body.statements if function.body else ()
    return (sum(1 for _ in instructions(statements)) + 1) * STEP
